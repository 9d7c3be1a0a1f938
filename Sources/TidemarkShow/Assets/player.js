// Plays a recorded show. The HTML of the parts comes from the program that recorded it, which escapes all texts.
"use strict";
{
  const { texts, frames } = JSON.parse(document.getElementById("recording").textContent);
  const length = frames[frames.length - 1].at;
  const play = document.getElementById("player-play");
  const place = document.getElementById("player-place");
  const time = document.getElementById("player-time");
  const speed = document.getElementById("player-speed");
  const speeds = [1, 2, 4];
  const shown = new Map();
  let now = 0;
  let isPlaying = false;
  let last = 0;

  place.min = 0;
  place.max = length;
  place.step = 0.1;

  /** Shows the page at a time: the newest text of each part up to it. */
  function show(at) {
    const wanted = new Map();
    for (const frame of frames) {
      if (frame.at > at) break;
      for (const [id, index] of Object.entries(frame.parts)) wanted.set(id, index);
    }
    for (const [id, index] of wanted) {
      if (shown.get(id) === index) continue;
      const fresh = new DOMParser().parseFromString(texts[index], "text/html").body.firstElementChild;
      for (const field of fresh.querySelectorAll("button, input")) field.disabled = true;
      document.getElementById(id).replaceWith(fresh);
      shown.set(id, index);
    }
    const seconds = Math.floor(at);
    time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    place.value = at;
  }

  function step(stamp) {
    if (!isPlaying) return;
    now = Math.min(length, now + (stamp - last) / 1000 * speeds[0]);
    last = stamp;
    show(now);
    if (now >= length) return stop();
    requestAnimationFrame(step);
  }

  function stop() {
    isPlaying = false;
    play.textContent = now >= length ? "Play again" : "Play";
  }

  play.addEventListener("click", () => {
    if (isPlaying) return stop();
    if (now >= length) now = 0;
    isPlaying = true;
    play.textContent = "Pause";
    last = performance.now();
    requestAnimationFrame(step);
  });
  place.addEventListener("input", () => { now = Number(place.value); show(now); });
  speed.addEventListener("click", () => {
    speeds.push(speeds.shift());
    speed.textContent = `Speed ${speeds[0]}×`;
  });
  show(0);
}

// Live parts: when the server says that their subject has changed, the page is fetched again and the part
// is put in the place of the old one. At most one fetch is under way.
import { fetchPage, say } from "./dom.js";

let live = document.querySelector("[data-part=live]");
const subject = live?.dataset.key ?? (document.querySelector("[data-part=grid]") && "data");

if (subject) {
  let isFetching = false, isStale = false, isLost = false;
  const refresh = async () => {
    if (!live) { dispatchEvent(new Event("tidemark-data")); return; }
    if (isFetching) { isStale = true; return; }
    isFetching = true;
    try {
      do {
        isStale = false;
        const fresh = (await fetchPage(location.href)).querySelector("[data-part=live]");
        // A part that holds the focus is left alone, so that a reader keeps the place.
        if (fresh && !live.contains(document.activeElement)) {
          live.replaceWith(fresh);
          live = fresh;
        }
      } while (isStale);
    } catch { say("The server does not answer."); }
    isFetching = false;
  };
  // What a connection tells first is what the page already shows, unless it was lost in between.
  let isFirst = true;
  const events = new EventSource("/events");
  events.addEventListener(subject, () => { if (!isFirst) refresh(); isFirst = false; });
  events.onerror = () => { isLost = true; say("The connection is lost. Reconnecting."); };
  events.onopen = () => { if (isLost) { say(""); isLost = false; isFirst = true; refresh(); } };
}

// Listens and writes over WebChannel, by fetch alone. `?host=127.0.0.1:8080&collection=c`; `&tls=1`
// over TLS. Both streams stay open, as Google's library keeps them.
const parameters = new URLSearchParams(location.search);
const database = 'projects/interop/databases/(default)';
const root = `${database}/documents`;
const collection = parameters.get('collection');
const scheme = parameters.get('tls') ? 'https' : 'http';
const service = `${scheme}://${parameters.get('host')}/google.firestore.v1.Firestore`;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class Channel {
  constructor(rpc, received) {
    Object.assign(this, { rpc, received, rid: 1, aid: 0, ofs: 0, isOpen: true });
  }

  url(query) {
    const all = { VER: 8, database, zx: Math.random().toString(36), t: 1, ...query };
    return `${service}/${this.rpc}/channel?${new URLSearchParams(all)}`;
  }

  async post(query, message, extra = {}) {
    const form = new URLSearchParams({
      ...extra, count: 1, ofs: this.ofs, req0___data__: JSON.stringify(message) });
    this.ofs += 1;
    this.rid += 1;
    const answer = await fetch(this.url({ RID: this.rid, ...query }), {
      method: 'POST', body: form, credentials: 'include' });
    if (!answer.ok) throw new Error(await answer.text());
    const text = await answer.text();
    return JSON.parse(text.slice(text.indexOf('\n') + 1));
  }

  async open(message) {
    const headers = 'Authorization:Bearer owner\r\nContent-Type:text/plain\r\n';
    const [[, [, sid]]] = await this.post({ CVER: 22 }, message, { headers });
    this.sid = sid;
    return this;
  }

  send(message) {
    return this.post({ SID: this.sid, AID: this.aid }, message);
  }

  // Until the session is gone or the server is.
  async run() {
    while (this.isOpen) {
      const answer = await fetch(
        this.url({ RID: 'rpc', SID: this.sid, AID: this.aid, CI: 0, TYPE: 'xmlhttp' }),
        { credentials: 'include' });
      if (!answer.ok) throw new Error(await answer.text());
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        for (;;) {
          const line = text.indexOf('\n');
          if (line < 0) break;
          const length = Number(text.slice(0, line));
          if (text.length < line + 1 + length) break;
          const frame = JSON.parse(text.slice(line + 1, line + 1 + length));
          text = text.slice(line + 1 + length);
          for (const [number, payload] of frame) {
            if (number !== this.aid + 1) throw new Error(`array ${number} after ${this.aid}`);
            this.aid = number;
            if (payload[0] === 'close') this.close();
            else if (payload[0] !== 'noop') payload.forEach((message) => this.received(message));
          }
        }
      }
    }
  }

  close() {
    this.isOpen = false;
    navigator.sendBeacon(this.url({ SID: this.sid, RID: this.rid + 1, TYPE: 'terminate' }), '');
  }
}

// The list: what the server last said, and where to go on from there.
const rows = new Map();
let resumeToken;

function show() {
  const names = [...rows.keys()].sort();
  document.getElementById('list').replaceChildren(...names.map((name) => {
    const item = document.createElement('li');
    item.textContent = `${name.split('/').pop()}: ${rows.get(name)}`;
    return item;
  }));
}

function take(message) {
  if (message.error) throw new Error(message.error.message);
  const { documentChange, documentDelete, targetChange } = message;
  if (documentChange) {
    const { name, fields } = documentChange.document;
    rows.set(name, fields.text.stringValue);
  }
  if (documentDelete) rows.delete(documentDelete.document);
  if (targetChange && !targetChange.targetIds && targetChange.readTime) {
    ({ resumeToken } = targetChange);
    show();
    document.getElementById('state').textContent = 'live';
  }
}

async function listen() {
  for (;;) {
    try {
      const addTarget = { targetId: 2, query: {
        parent: root, structuredQuery: { from: [{ collectionId: collection }] } } };
      if (resumeToken) addTarget.resumeToken = resumeToken;
      const channel = await new Channel('Listen', take).open({ database, addTarget });
      await channel.run();
    } catch (error) {
      document.getElementById('state').textContent = `away: ${error.message}`;
    }
    await pause(100);
  }
}

// A stream of writes: one at a time, each answered before the next.
class Writer {
  async open() {
    this.channel = await new Channel('Write', (message) => this.take(message)).open({ database });
    const hello = this.answer();
    this.channel.run().catch(() => {}).finally(() => {
      this.isOver = true;
      this.waiting?.failed(new Error('ended'));
    });
    await hello;
    return this;
  }

  answer() {
    return new Promise((done, failed) => { this.waiting = { done, failed }; });
  }

  take(message) {
    if (message.error) return this.waiting.failed(new Error(message.error.message));
    this.streamToken = message.streamToken;
    return this.waiting.done();
  }

  async send(writes) {
    const answer = this.answer();
    await Promise.all([this.channel.send({ streamToken: this.streamToken, writes }), answer]);
  }
}

let writer;

// Writes until it is acknowledged. A set may come twice.
async function write(id, text) {
  for (;;) {
    try {
      if (!writer || writer.isOver) writer = await new Writer().open();
      await writer.send([{ update: {
        name: `${root}/${collection}/${id}`, fields: { text: { stringValue: text } } } }]);
      return id;
    } catch (error) {
      writer = undefined;
      await pause(100);
    }
  }
}

listen();

// The dashboard: asks the site again and again while somebody looks, and shows
// what it says. Plain polling: a hidden tab asks nothing, and no connection
// stays open at the site.
import {RateChart} from './chart.js';
import {byId, el, refreshTimes, setServerTime} from './dom.js';
import {showFederation, startFederation} from './federation.js';
import * as format from './format.js';
import {pageDetail, pageLink, urlsToTry} from './lookup.js';
import {roundDetail, showRounds} from './rounds.js';
import {showBanners, showStatus} from './status.js';
import {chosenHosts, showFrontier, showHosts, startTabs} from './tables.js';

const STATUS_EVERY = 2000;
const SLOWEST = 15000;  // Between tries while the site does not answer.

class Failure extends Error {
  constructor(code, why) {
    super(why);
    this.code = code;
  }
}

// The answer; null if the site is still finding out. Throws Failure.
async function ask(path) {
  let response;
  try {
    response = await fetch(path, {signal: AbortSignal.timeout(10000)});
  } catch (error) {
    throw new Failure(0, 'The agent does not answer');
  }
  const body = await response.json().catch(() => ({}));
  if (response.status === 202) return null;
  if (!response.ok) throw new Failure(response.status, body.error ?? `The agent answers ${response.status}`);
  return body;
}

const chart = new RateChart();
const state = {status: null, lately: null, failures: 0, roundsOf: ''};

async function pollStatus() {
  try {
    const status = await ask('/api/status');
    if (status !== null) {
      Object.assign(state, {status, failures: 0});
      setServerTime(format.parseTime(status.now));
      showStatus(status, state.lately);
      const rounds = `${status.round} ${status.phase} ${status.agent?.lifetime?.rounds}`;
      if (rounds !== state.roundsOf) {
        state.roundsOf = rounds;
        slow.rounds.due = 0;  // One has ended, or begun.
      }
    }
    showBanners(state.status, null);
    document.body.dataset.connection = 'up';
  } catch (failure) {
    ++state.failures;
    showBanners(state.status, {why: failure.message});
    document.body.dataset.connection = 'lost';
  }
}

// What changes slowly, or not in every site, each with the milliseconds between two looks.
const slow = {
  federation: {every: 1900, look: async () => {  // With every status.
    const answer = await ask('/api/federation');
    if (answer !== null) showFederation(answer);
  }},
  rates: {every: 10000, look: async () => {
    const rates = await ask('/api/rates');
    state.lately = rates.points[rates.points.length - 1];
    chart.show(rates);
    if (state.status) showStatus(state.status, state.lately);
  }},
  rounds: {every: 60000, look: async () => showRounds((await ask('/api/rounds?most=10')).rounds)},
  frontier: {every: 20000, look: async () => {
    const frontier = await ask('/api/frontier');
    if (frontier === null) return 'again';
    showFrontier(frontier);
  }},
  hosts: {every: 60000, look: async () => {
    const by = chosenHosts();
    const hosts = await ask(`/api/hosts?by=${by}`);
    if (by === chosenHosts()) showHosts(by, hosts);
    if (hosts === null) return 'again';
  }},
};

async function pollSlow(name) {
  const part = slow[name];
  if (part.due > Date.now()) return;
  part.due = Date.now() + part.every;
  try {
    if (await part.look() === 'again') part.due = Date.now() + 2000;
  } catch (failure) {
    part.due = Date.now() + 5000;  // The banner says why, by the status.
  }
}

let timer = null;
let isPolling = false;

async function poll() {
  clearTimeout(timer);
  if (document.hidden || isPolling) return;
  isPolling = true;
  await pollStatus();
  if (state.failures === 0) await Promise.all(Object.keys(slow).map(pollSlow));
  refreshTimes();
  isPolling = false;
  timer = setTimeout(poll, Math.min(SLOWEST, STATUS_EVERY * 1.5 ** Math.min(state.failures, 8)));
}

// --- The window with details: #round=7, #page=https%3A%2F%2F... -------------

const detail = byId('detail');

function showDetail(title, children) {
  byId('detail-title').textContent = title;
  byId('detail-body').replaceChildren(...children);
  if (!detail.open) detail.showModal();
  detail.scrollTop = 0;
}

const note = (text) => [el('p', {class: 'empty'}, text)];

async function findPage(text) {
  const urls = urlsToTry(text);
  for (const url of urls) {
    try {
      return await ask(`/api/page?url=${encodeURIComponent(url)}`);
    } catch (failure) {
      if (failure.code !== 404 || url === urls[urls.length - 1]) throw failure;
    }
  }
}

async function openHash() {
  const hash = location.hash;
  const [, kind, value] = /^#(round|page)=(.*)$/s.exec(hash) ?? [];
  if (!kind) {
    if (detail.open) detail.close();
    return;
  }
  let title = '', children;
  try {
    if (kind === 'round') {
      title = `Round ${format.number(Number(value))}`;
      children = roundDetail(await ask(`/api/round?number=${encodeURIComponent(value)}`));
    } else {
      title = 'Page';
      const text = decodeURIComponent(value);
      byId('url').value = text;
      children = pageDetail(await findPage(text));
    }
  } catch (failure) {
    children = note(failure.code === 404 && kind === 'page'
      ? 'This page is not known: no link to it has been let in so far. ' +
        '“gannet check url” says whether it would be; “gannet inject” adds it.'
      : failure.message);
  }
  if (location.hash === hash) showDetail(title, children);
}

detail.addEventListener('close', () => {
  if (location.hash) history.pushState(null, '', location.pathname);
});
detail.addEventListener('click', (event) => {
  if (event.target === detail) detail.close();  // Beside it.
});
byId('detail-close').addEventListener('click', () => detail.close());
byId('search').addEventListener('submit', (event) => {
  event.preventDefault();
  const hash = pageLink(byId('url').value.trim());
  if (location.hash === hash) openHash();
  else location.hash = hash;
});
addEventListener('hashchange', openHash);
document.addEventListener('visibilitychange', poll);
startTabs(() => {
  slow.hosts.due = 0;
  showHosts(chosenHosts(), null);
  pollSlow('hosts');
});
startFederation();
for (const part of Object.values(slow)) part.due = 0;
poll();
openHash();

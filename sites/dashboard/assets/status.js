// What the status says: header, banners, the round in progress, outcomes and
// the numbers of the site. Asked for every two seconds, so it changes only what
// is new.
import {byId, el, joined, now, setText, showBars, timeOf} from './dom.js';
import * as format from './format.js';

const OUTCOMES = ['fetched', 'unchanged', 'moved', 'gone', 'failed', 'blocked'];
const STATES = ['new', 'fetched', 'moved', 'gone', 'failed', 'blocked'];
const PHASES = ['generate', 'fetch', 'update', 'exchange'];
const STATE_WORDS = {running: 'Running', waiting: 'Waiting', paused: 'Paused', stopping: 'Stopping'};
const WINDOW = 10 * 1000;  // Over so long a rate is taken.

let looks = [];  // {time, pages, bytes, done, settled} of the last seconds.
let lastSaid = '';

// Pages tried; `unchanged` is part of `fetched`.
const visits = (of) => of ? of.fetched + of.moved + of.gone + of.failed + of.blocked : 0;
const done = (of) => of ? visits(of) + of.released : 0;

function remember(status) {
  const agent = status.agent;
  const look = {
    time: format.parseTime(status.now), pages: visits(agent?.lifetime?.outcomes),
    bytes: agent?.lifetime?.bytes ?? 0, round: agent?.progress?.round,
    phase: agent?.progress?.phase, done: done(agent?.progress?.outcomes),
    settled: agent?.progress?.settled ?? 0};
  const last = looks[looks.length - 1];
  if (last && (look.time < last.time || look.pages < last.pages)) looks = [];
  if (last?.time !== look.time) looks.push(look);
  while (looks.length > 2 && looks[1].time <= look.time - WINDOW) looks.shift();
}

// Of `key` a second over the last looks; null if there are too few.
function rateOf(key, sameRound) {
  const last = looks[looks.length - 1];
  const first = looks.find((look) => !sameRound ||
    (look.round === last.round && look.phase === last.phase));
  if (!first || last.time - first.time < 1000) return null;
  return Math.max(0, 1000 * (last[key] - first[key]) / (last.time - first.time));
}

export function showStatus(status, lately) {
  remember(status);
  const rounds = status.agent?.rounds;
  const state = rounds?.state || 'unknown';
  document.title = `${status.site || 'Gannet'} – Gannet`;
  setText('site', status.site || 'Gannet');
  setText('version', status.agent ? `Gannet ${status.agent.version}` : 'Gannet');
  byId('state').dataset.state = state;
  setText('state', STATE_WORDS[state] ?? (status.agent ? state : 'No agent'));
  showNext(rounds);
  showRound(status, state, lately);
  showOutcomes(status);
  showNumbers(status);
  showBars('states', STATES.map((name) => ({
    label: name, value: status.pages[name] ?? 0, kind: name,
    title: `${format.share(status.pages[name] ?? 0, status.known)} of all known pages`})),
  'No page is known yet. Add some with “gannet inject URL”.');
  const started = format.parseTime(status.agent?.started);
  setText('agent', status.agent
    ? joined(`Agent ${status.agent.pid}`, `up ${format.duration((now() - started) / 1000)}`,
      status.blocked_domains ? `${format.number(status.blocked_domains)} blocked domains` : '')
    : '', format.exact(started));
}

function showNext(rounds) {
  const next = format.parseTime(rounds?.next_round);
  const when = next !== null && rounds.state === 'waiting' ? `next round ${format.relative(next, now())}` : '';
  setText('next', joined(when, rounds?.schedule), next === null ? '' : format.exact(next));
}

function showRound(status, state, lately) {
  const progress = status.agent?.progress;
  const runs = state === 'running' || state === 'stopping';
  const inRound = runs && progress && PHASES.includes(progress.phase);
  const isOpen = status.phase && status.phase !== 'none';
  setText('round-title', inRound ? `Round ${format.number(progress.round)}`
    : !status.round ? 'No round yet'
      : isOpen ? `Round ${format.number(status.round)} is open` : `After round ${format.number(status.round)}`);
  const at = inRound ? PHASES.indexOf(progress.phase) : -1;
  for (const step of byId('steps').children) {
    const i = PHASES.indexOf(step.dataset.phase);
    step.dataset.is = at < 0 ? 'idle' : i < at ? 'done' : i === at ? 'current' : 'ahead';
    if (i === at) step.setAttribute('aria-current', 'step');
    else step.removeAttribute('aria-current');
  }
  showProgress(inRound ? progress : null, status, state);
  const idle = runs ? null : 0;
  setText('pages-rate', format.rate(idle ?? rateOf('pages') ?? lately?.[1]));
  setText('bytes-rate', format.rate((idle ?? rateOf('bytes') ?? lately?.[2]) / 1e6));
  setText('connections', format.number(inRound ? progress.connections : 0));
  setText('hosts-active', format.number(inRound ? progress.hosts_active : 0));
  const began = format.parseTime(progress?.round_started);
  const success = format.parseTime(status.agent?.last_success);
  setText('elapsed-label', inRound ? 'Running for' : 'Last success');
  setText('elapsed', inRound && began !== null ? format.duration((now() - began) / 1000)
    : format.relative(success, now()), format.exact(inRound ? began : success));
  say(inRound ? `Round ${progress.round}: ${progress.phase}` : `Rounds are ${state}`);
}

function showProgress(progress, status, state) {
  const bar = byId('progress');
  if (!progress) {
    bar.value = 0;
    bar.dataset.is = 'idle';
    setText('time-left', '');
    setText('progress-text', {
      paused: 'Paused: no round begins by itself.',
      waiting: 'Waiting for the next round.',
    }[state] ?? (status.agent ? '–' : 'No agent runs rounds here.'));
    return;
  }
  bar.dataset.is = progress.phase;
  let ready = 0, all = 0, what = '', left = '';
  if (progress.phase === 'fetch') {
    [ready, all, what] = [done(progress.outcomes), progress.planned, 'pages'];
    left = timeLeft(all - ready, rateOf('done', true), progress.deadline);
  } else if (progress.phase === 'update' || progress.phase === 'exchange') {
    [ready, all, what] = [progress.settled, progress.targets, 'links settled'];
    left = timeLeft(all - ready, rateOf('settled', true), null);
  }
  if (all > 0) {
    bar.max = all;
    bar.value = Math.min(ready, all);
    setText('progress-text', `${format.number(ready)} of ${format.number(all)} ${what} · ${format.share(ready, all)}`);
  } else {
    bar.removeAttribute('value');  // Moves without saying how far it is.
    setText('progress-text', progress.phase === 'generate' ? 'Choosing the pages to fetch' : 'Beginning');
  }
  setText('time-left', left);
}

// Whichever comes first: all done at this rate, or the deadline.
function timeLeft(rest, rate, deadline) {
  const limit = format.parseTime(deadline);
  const byLimit = limit === null ? Infinity : Math.max(0, (limit - now()) / 1000);
  const byRate = rate > 0 ? rest / rate : Infinity;
  const seconds = Math.min(byLimit, byRate);
  if (!Number.isFinite(seconds)) return '';
  // Estimates jump about; their seconds would pretend to be exact.
  const rough = seconds > 120 ? `${Math.round(seconds / 60)} min` : `${Math.max(1, Math.round(seconds))} s`;
  return `${byLimit < byRate ? 'at most' : 'about'} ${rough} left`;
}

function showOutcomes(status) {
  const round = status.agent?.progress?.outcomes;
  const all = status.agent?.lifetime?.outcomes;
  // For the bar, fetched pages are either changed or not.
  const parts = (of) => ({...of, fetched: (of?.fetched ?? 0) - (of?.unchanged ?? 0)});
  const shown = round && visits(round) > 0 ? round : all;
  const total = visits(shown);
  const stack = byId('stack');
  const sizes = parts(shown);
  stack.hidden = total === 0;
  stack.replaceChildren(...OUTCOMES.filter((name) => sizes[name] > 0).map((name) => {
    const part = el('span', {'data-kind': name, title: `${name}: ${format.number(sizes[name])}, ` +
      format.share(sizes[name], total)});
    part.style.flexGrow = sizes[name];
    return part;
  }));
  stack.setAttribute('aria-label', OUTCOMES.map((name) => `${name} ${format.share(sizes[name] ?? 0, total)}`).join(', '));
  const row = (name, kind, isPart, ofRound, ofAll) => el('tr', {'data-part': isPart ? 'of' : null},
    el('th', {scope: 'row'}, el('span', {class: 'dot', 'data-kind': kind}), name),
    el('td', {class: 'number'}, ofRound), el('td', {class: 'number'}, ofAll));
  byId('outcomes').replaceChildren(...OUTCOMES.flatMap((name) => [
    row(name, name, name === 'unchanged', round ? format.number(round[name]) : '–',
      all ? format.number(all[name]) : '–'),
    // What went wrong: "tls expired", "connect refused".
    ...(name === 'failed' ? mostFailures(status).map(([kind, pages]) =>
      row(kind.replaceAll('_', ' '), 'failed', true, '', format.number(pages))) : [])]));
}

// The kinds that failed most since the agent started.
function mostFailures(status) {
  return Object.entries(status.agent?.lifetime?.failures ?? {})
    .sort(([, a], [, b]) => b - a).slice(0, 5);
}

function showNumbers(status) {
  setText('known', format.number(status.known));
  setText('known-sub', status.finished ? `${format.number(status.finished)} finished` : 'in the crawl DB');
  setText('frontier', format.number(status.frontier));
  setText('scheduled', format.number(status.scheduled));
  const due = format.parseTime(status.next_due);
  setText('scheduled-sub', due === null ? 'for a later visit' : `next ${format.relative(due, now())}`, format.exact(due));
  setText('deferred', format.number(status.deferred));
  setText('archive', format.bytes(status.archive?.bytes), `${format.number(status.archive?.bytes)} bytes`);
  setText('archive-sub', `${format.number(status.archive?.files ?? 0)} files`);
  setText('disk', format.bytes(status.free_bytes), `${format.number(status.free_bytes)} bytes`);
  const least = status.agent?.min_free_bytes;
  setText('disk-sub', least ? `kept free: ${format.bytes(least)}` : 'for crawl DB and archive');
  byId('disk-tile').dataset.is = least && status.free_bytes < 2 * least ? 'low' : 'fine';
}

// To screen readers: changes of state only, never running numbers.
function say(text) {
  if (text !== lastSaid) setText('announce', text);
  lastSaid = text;
}

// Connections are held back: not for the rest of a round that was late once.
let heldBack = {seconds: 0, until: 0};
function holdsBack(progress) {
  const seconds = progress?.held_back_seconds ?? 0;
  if (seconds >= 1 && seconds > heldBack.seconds) heldBack.until = Date.now() + 10_000;
  heldBack.seconds = seconds;
  return Date.now() < heldBack.until;
}

// What an operator must know, worst first. `lost`: why there is no new status.
export function showBanners(status, lost) {
  const banners = [];
  const rounds = status?.agent?.rounds;
  if (lost) {
    banners.push(['error', 'Connection lost', `${lost.why}. Trying again. ` +
      (status ? 'The numbers below are of before:' : ''), status?.now]);
    setText('state', 'Not reachable');
  }
  if (rounds?.last_error) banners.push(['error', 'The last round failed', rounds.last_error]);
  const least = status?.agent?.min_free_bytes;
  if (least && status.free_bytes < least) {
    banners.push(['error', 'The disk is nearly full', `${format.bytes(status.free_bytes)} are free, ` +
      `and rounds stop below ${format.bytes(least)}: make room, or release archive files.`]);
  }
  if (rounds?.state === 'running' && holdsBack(status.agent.progress)) {
    banners.push(['warning', 'This machine is busy', 'It has no CPU time or sockets for more, so fewer ' +
      'connections are begun. No page fails for that; a lower fetch.connections, or more CPU time, helps.']);
  }
  const reload = status?.agent?.reload;
  if (reload && !reload.successful) {
    banners.push(['warning', 'site.yaml was not reloaded', reload.error || 'The old one stays in force.']);
  }
  if (rounds?.paused || rounds?.state === 'paused') {
    banners.push(['warning', 'Rounds are paused', (rounds.state === 'running' ? 'The one that runs ends first. ' : '') +
      'No round begins by itself until `gannet round --resume`.']);
  }
  const key = JSON.stringify(banners);
  const place = byId('banners');
  if (place.dataset.key === key) return;  // An alert is read aloud once.
  place.dataset.key = key;
  place.replaceChildren(...banners.map(([kind, title, text, time]) =>
    el('p', {class: 'banner', 'data-kind': kind}, el('strong', {}, title),
      el('span', {}, text, ' ', time ? timeOf(time) : null))));
}

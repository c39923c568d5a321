// The frontier's two charts, and the tables of hosts with their tabs.
import {byId, el, setText, showBars, timeOf} from './dom.js';
import * as format from './format.js';

export function showFrontier(frontier) {
  const empty = 'The frontier is empty. “gannet inject URL” adds pages; others wait for their time.';
  const rows = (buckets, label) => {
    const filled = buckets.findLastIndex((bucket) => bucket.pages > 0) + 1;
    return buckets.slice(0, filled).map((bucket, i) => ({
      label: label(bucket.from, i === buckets.length - 1), value: bucket.pages, kind: 'frontier',
      title: `${format.share(bucket.pages, frontier.pages)} of the frontier; from ${format.number(bucket.from)} on`}));
  };
  showBars('by-depth', rows(frontier.by_depth, (from, last) =>
    last && from > 0 ? `${from} and deeper` : from === 0 ? 'seeds' : `${from} link${from === 1 ? '' : 's'} away`), empty);
  showBars('by-score', rows(frontier.by_score, (from) => `from ${format.compact(from)}`), empty);
  const note = frontier.sampled < frontier.pages
    ? `Estimated from ${format.number(frontier.sampled)} of ${format.number(frontier.pages)} pages.` : '';
  setText('depth-note', note);
  setText('score-note', note);
}

const TABS = ['failures', 'slow'];
let chosen = 'failures';

export const chosenHosts = () => chosen;

// `onChange` is called when another tab was chosen.
export function startTabs(onChange) {
  const choose = (name) => {
    chosen = name;
    for (const tab of TABS) {
      const button = byId(`tab-${tab}`);
      button.setAttribute('aria-selected', String(tab === name));
      button.tabIndex = tab === name ? 0 : -1;
    }
    byId('hosts').setAttribute('aria-labelledby', `tab-${name}`);
    onChange();
  };
  TABS.forEach((tab, i) => {
    const button = byId(`tab-${tab}`);
    button.addEventListener('click', () => choose(tab));
    button.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      event.preventDefault();
      const other = TABS[1 - i];
      choose(other);
      byId(`tab-${other}`).focus();
    });
  });
}

// Name, cell, what it means, and whether only wide windows have room for it.
const COLUMNS = {
  failures: [
    ['Failures', (host) => format.number(host.failures), 'in a row'],
    ['Rests until', (host) => timeOf(host.rest_until)],
    ['Pages', (host) => format.number(host.pages), null, 'wide']],
  slow: [
    ['Round trip', (host) => format.duration(host.rtt), 'median of what was measured'],
    ['Delay', (host) => format.duration(host.delay), 'between two requests'],
    ['Pages', (host) => format.number(host.pages), null, 'wide']],
};

// `answer` is null while the site is still counting.
export function showHosts(by, answer) {
  const place = byId('hosts');
  // Only hosts that have what the table is about.
  const hosts = (answer?.hosts ?? []).filter((host) => by === 'slow' ? host.rtt !== null : host.failures > 0);
  if (hosts.length === 0) {
    place.replaceChildren(el('p', {class: 'empty'}, answer === null ? 'Looking at all hosts…'
      : by === 'slow' ? 'No host has been measured yet. It takes a round.'
        : 'No host is failing. All that were asked have answered.'));
    return;
  }
  const columns = COLUMNS[by];
  place.replaceChildren(el('table', {},
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Host'),
      ...columns.map(([name, , title, wide]) => el('th', {scope: 'col', class: `number ${wide ?? ''}`, title}, name)))),
    el('tbody', {}, ...hosts.map((host) => el('tr', {},
      el('th', {scope: 'row', class: 'name', title: host.host}, host.host),
      ...columns.map(([, cell, , wide]) => el('td', {class: `number ${wide ?? ''}`}, cell(host))))))));
}

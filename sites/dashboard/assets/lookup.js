// A URL's record and its links, in the detail window.
import {el, joined, timeOf} from './dom.js';
import * as format from './format.js';

const MOST_LINKS = 200;  // Shown at first; the others on demand.

export const pageLink = (url) => `#page=${encodeURIComponent(url)}`;

// What a person types may lack the scheme: then both are tried, in this order.
export function urlsToTry(text) {
  const typed = text.trim();
  return /^[a-z][a-z0-9+.-]*:/i.test(typed) && !/^[^/]*:\d/.test(typed)
    ? [typed] : [`https://${typed}`, `http://${typed}`];
}

const fact = (name, value, title) => value === null || value === undefined || value === '' ? null
  : el('div', {}, el('dt', {}, name), el('dd', {title}, value));

const PLACES = {frontier: 'in the frontier', schedule: 'in the schedule', finished: 'finished'};

export function pageDetail(page) {
  const visited = page.visited !== null;
  const parts = [
    el('p', {class: 'title'}, page.title || el('span', {class: 'muted'}, visited ? 'without a title' : 'not fetched yet')),
    el('p', {class: 'url'}, page.url),
    el('p', {class: 'chips'},
      el('span', {class: 'chip', 'data-kind': page.state}, page.state),
      el('span', {class: 'chip'}, PLACES[page.place] ?? page.place),
      page.http_status ? el('span', {class: 'chip'}, `HTTP ${page.http_status}`) : null,
      page.noindex ? el('span', {class: 'chip'}, 'noindex') : null),
    el('div', {class: 'columns'},
      section('Visits', [
        fact('found', timeOf(page.found)), fact('last visit', timeOf(page.visited)),
        fact('due', page.due === null ? null : timeOf(page.due)),
        fact('visits', format.number(page.visits)), fact('changes seen', format.number(page.changes)),
        fact('retries', page.retries || null), fact('redirects on the way', page.redirects || null),
        fact('finished because', page.finished_reason)]),
      section('Importance', [
        fact('score', format.compact(page.score), format.number(page.score)),
        fact('cash', format.compact(page.cash), format.number(page.cash)),
        fact('history', format.compact(page.history), format.number(page.history)),
        fact('links from a seed', format.number(page.depth))]),
      section('Content', [
        fact('digest', page.digest), fact('ETag', page.etag), fact('last modified', page.last_modified),
        fact('canonical', page.canonical === null ? null : el('a', {href: pageLink(page.canonical)}, page.canonical))]),
      section('Archive', archiveFacts(page.archive))),
    el('section', {class: 'outlinks'}, el('h3', {}, `Links on this page (${format.number(page.outlinks.length)})`),
      linkList(page.outlinks)),
  ];
  if (/^https?:\/\//.test(page.url)) {
    parts.push(el('p', {class: 'links'}, el('a',
      {href: page.url, target: '_blank', rel: 'noopener noreferrer'}, 'Open on the web'),
    el('a', {href: `/api/page?url=${encodeURIComponent(page.url)}`, target: '_blank'}, 'Raw record (JSON)')));
  }
  return parts;
}

function section(title, facts) {
  const known = facts.filter((one) => one !== null);
  return known.length === 0 ? null
    : el('section', {}, el('h3', {}, title), el('dl', {class: 'facts'}, ...known));
}

function archiveFacts(archive) {
  if (!archive) return [fact('kept', 'nothing yet')];
  return [
    fact('position', joined(`file ${archive.file}`, `offset ${format.number(archive.offset)}`)),
    fact('record', format.bytes(archive.length), `${format.number(archive.length)} bytes`),
    fact('type', archive.content_type),
    fact('body', archive.body_bytes === null ? null : format.bytes(archive.body_bytes)),
    fact('cannot be read', archive.problem)];
}

function linkList(links) {
  if (links.length === 0) return el('p', {class: 'empty'}, 'None are kept of it.');
  const list = el('ul', {class: 'link-list'});
  const add = (some) => list.append(...some.map((url) => el('li', {}, el('a', {href: pageLink(url)}, url))));
  add(links.slice(0, MOST_LINKS));
  if (links.length <= MOST_LINKS) return list;
  const more = el('button', {type: 'button'}, `Show all ${format.number(links.length)}`);
  more.addEventListener('click', () => {
    add(links.slice(MOST_LINKS));
    more.remove();
  });
  return el('div', {}, list, more);
}

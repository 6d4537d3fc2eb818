import { dirname, relative, resolve } from 'node:path'
import { addressOf } from './sidebar.mjs'

/** Returns an anchor as GitHub creates it, so that a link works on both sites. */
export function slugify(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

/** Turns links between files into site URLs, and links to files outside `docs` into repository URLs. */
export function repositoryLinks(md, { docs, repository }) {
  const root = resolve(docs, '..')
  md.core.ruler.push('repository-links', state => {
    const folder = dirname(resolve(docs, state.env.realPath ?? state.env.path))
    for (const token of state.tokens.flatMap(one => one.children ?? []))
      if (token.type === 'link_open') token.attrSet('href', outside(token.attrGet('href') ?? '', folder))
  })

  function outside(href, folder) {
    if (/^([a-z]+:|#|\/)/.test(href)) return href
    const [path, anchor] = href.split('#')
    const target = relative(root, resolve(folder, path))
    const fragment = anchor === undefined ? '' : `#${anchor}`
    if (/^docs\/.*\.md$/.test(target)) return addressOf(target.slice('docs/'.length)) + fragment
    const kind = /\.\w+$/.test(target) ? 'blob' : 'tree'
    return `${repository}/${kind}/main/${target}${fragment}`
  }
}

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

/**
 * Turns links between files into site URLs, and links to files without a page into repository URLs. READMEs of packages,
 * which the registry shows too, link to the repository: those links lead to the site's pages as well, and their images are
 * the site's.
 */
export function repositoryLinks(md, { docs, repository }) {
  const root = resolve(docs, '..')
  const images = `${repository.replace('//github.com/', '//raw.githubusercontent.com/')}/main/docs/`
  md.core.ruler.push('repository-links', state => {
    const page = relative(docs, resolve(docs, state.env.realPath ?? state.env.path))
    for (const token of state.tokens.flatMap(one => one.children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', addressFor(token.attrGet('href') ?? '', page))
      if (token.type === 'image') token.attrSet('src', imageFor(token.attrGet('src') ?? '', page))
    }
  })

  function addressFor(href, page) {
    const [path, anchor] = href.split('#')
    const fragment = anchor === undefined ? '' : `#${anchor}`
    const [, own] = /^\/(?:blob|tree)\/main\/(.*)$/.exec(path.replace(repository, '')) ?? []
    if (own === undefined && /^([a-z]+:|#|\/)/.test(href)) return href
    const target = own ?? relative(root, resolve(docs, dirname(page), path))
    const address = pageOf(target)
    if (address !== undefined) return address + fragment
    const kind = /\.\w+$/.test(target) ? 'blob' : 'tree'
    return `${repository}/${kind}/main/${target}${fragment}`
  }

  function imageFor(src, page) {
    return src.startsWith(images)
      ? `${'../'.repeat(page.split('/').length - 1)}${src.slice(images.length)}`
      : src
  }
}

/** Returns the address of a file's page, or `undefined` if the site has none. */
function pageOf(file) {
  const [, name] = /^packages\/([\w-]+)(?:\/README\.md|\/)?$/.exec(file) ?? []
  if (name !== undefined) return addressOf(`packages/${name}.md`)
  return /^docs\/.*\.md$/.test(file) ? addressOf(file.slice('docs/'.length)) : undefined
}

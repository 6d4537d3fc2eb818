import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import llmstxt from 'vitepress-plugin-llms'
import { codeTabs } from './code-tabs.mjs'
import { descriptionOf, headOf, SITE } from './head.mjs'
import { repositoryLinks, slugify } from './links.mjs'
import { copyReadmes } from './readmes.mjs'
import { search } from './search.mjs'
import { sidebar } from './sidebar.mjs'
import { emptyHeads } from './tables.mjs'

const REPOSITORY = 'https://github.com/ackhook/ackhook'
/** Applies a reader's choices of code forms before the page is painted. */
const APPLY_CHOICES = `for (const choice of ['manager', 'language', 'shell', 'framework']) try {
  const value = localStorage.getItem('choice-' + choice)
  if (value) document.documentElement.dataset[choice] = value
} catch {}`
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DOCS = `${ROOT}docs/`
/** Inline, so that browsers do not request a favicon.ico. */
const LOGO = `data:image/svg+xml,${encodeURIComponent(readFileSync(`${DOCS}images/logo.svg`, 'utf8'))}`

/** Version of all packages. Changesets raises it from 0.0.0 with the first release. */
const { version } = JSON.parse(readFileSync(`${ROOT}packages/core/package.json`, 'utf8'))
const released = version !== '0.0.0'

copyReadmes(ROOT)

export default defineConfig({
  title: 'Ackhook',
  lang: 'en',
  srcDir: '../docs',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  head: [
    ['link', { rel: 'icon', href: LOGO }],
    ['script', {}, APPLY_CHOICES],
    // Room for the line about the release.
    ...(released ? [] : [['style', {}, ':root { --vp-layout-top-height: 36px }']]),
  ],
  sitemap: { hostname: SITE },
  transformHead: headOf,
  transformPageData(page) {
    page.description = descriptionOf(DOCS + page.filePath, page.relativePath)
    // GitHub would show these settings as a table.
    if (page.relativePath === 'index.md')
      Object.assign(page.frontmatter, {
        sidebar: false,
        aside: false,
        pageClass: 'landing',
        titleTemplate: false,
      })
  },
  // GitHub shows README.md for a folder; a web server shows index.html.
  rewrites: {
    'getting-started/what-it-is.md': 'index.md',
    'README.md': 'contents.md',
    'api/README.md': 'api/index.md',
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config: md => {
      codeTabs(md)
      emptyHeads(md)
      repositoryLinks(md, { docs: DOCS, repository: REPOSITORY })
    },
  },
  vite: {
    publicDir: `${ROOT}site/public`,
    plugins: [externalVue(), llmstxt({ excludeIndexPage: false, ignoreFiles: ['internals/*'] })],
    build: { chunkSizeWarningLimit: 2000 },
  },
  themeConfig: {
    logo: { src: LOGO, alt: '' },
    search,
    outline: [2, 3],
    released,
    nav: [
      { text: 'Quick start', link: '/getting-started/express', activeMatch: '/getting-started/' },
      { text: 'Run', link: '/run/troubleshooting' },
      { text: 'Packages', link: '/packages/core', activeMatch: '/packages/' },
      { text: 'Options', link: '/reference/options' },
      { text: 'API', link: '/api/' },
      { text: released ? version : 'Unreleased', link: '/reference/stability' },
    ],
    sidebar: sidebar(
      page => titleOf(page),
      folder => readdirSync(`${DOCS}${folder}`),
    ),
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: sourceOf, text: 'Edit this page' },
  },
})

/** Returns where a page is written. VitePress sends this function to the browser, so it must not use what is outside. */
function sourceOf({ filePath }) {
  const repository = 'https://github.com/ackhook/ackhook'
  const [, folder, name] = /^(api|packages)\/(.+)\.md$/.exec(filePath) ?? []
  if (folder === 'packages') return `${repository}/edit/main/packages/${name}/README.md`
  if (folder === undefined) return `${repository}/edit/main/docs/${filePath}`
  return `${repository}/tree/main/packages/${name === 'README' ? '' : name}`
}

/** Marks Vue as external: the pages are outside this folder, so it cannot be resolved from there. */
function externalVue() {
  const isVue = id => id === 'vue' || id.startsWith('vue/')
  return {
    name: 'external-vue',
    enforce: 'pre',
    resolveId: (id, _importer, { ssr }) => (ssr && isVue(id) ? { id, external: true } : null),
  }
}

/** Returns a page's first heading, without Markdown. */
function titleOf(page) {
  const [, title = page] = /^# (.+)$/m.exec(readFileSync(`${DOCS}${page}`, 'utf8')) ?? []
  return title.replaceAll('`', '')
}

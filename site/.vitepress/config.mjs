import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import llmstxt from 'vitepress-plugin-llms'
import { codeTabs } from './code-tabs.mjs'
import { repositoryLinks, slugify } from './links.mjs'
import { sidebar } from './sidebar.mjs'

const REPOSITORY = 'https://github.com/ackhook/ackhook'
/** Icon, inline so that browsers do not request a favicon.ico. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M3 8l4 4 6-8' fill='none' stroke='%231a7f37' stroke-width='2.5'/></svg>"
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))

export default defineConfig({
  title: 'Ackhook',
  description: 'Verified, de-duplicated, acknowledged webhooks for Express, Fastify and Hono',
  lang: 'en',
  srcDir: '../docs',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: ICON }]],
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
      repositoryLinks(md, { docs: DOCS, repository: REPOSITORY })
    },
  },
  vite: {
    plugins: [externalVue(), llmstxt({ excludeIndexPage: false, ignoreFiles: ['internals/*'] })],
    build: { chunkSizeWarningLimit: 2000 },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/' },
      { text: 'Run', link: '/run/troubleshooting' },
      { text: 'Options', link: '/reference/options' },
      { text: 'API', link: '/api/' },
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
  const [, name] = /^api\/(.+)\.md$/.exec(filePath) ?? []
  if (name === undefined) return `${repository}/edit/main/docs/${filePath}`
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

import { useData, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { defineComponent, h, ref } from 'vue'
import { CHOICES, choose } from './choices.mjs'

/** Quick starts that differ only in the framework, by the values of that choice. */
const QUICK_STARTS = { express: 'express', fastify: 'fastify', hono: 'hono', node: 'node-http' }

/** The default layout, with a line about the release, and what belongs above a page's text. */
export const Layout = defineComponent({
  setup() {
    const { theme, page } = useData()
    return () =>
      h(DefaultTheme.Layout, null, {
        // Shown at the top. In the document, the link that skips to the content must come first.
        'layout-bottom': () => (theme.value.released ? undefined : h(Unreleased)),
        'doc-before': () => [
          /^(internals\/|api\/|index\.md)/.test(page.value.relativePath) ? undefined : h(CopyPage),
          frameworkOf(page.value.relativePath) === undefined ? undefined : h(Frameworks),
        ],
      })
  },
})

function Unreleased() {
  return h('aside', { class: 'unreleased', 'aria-label': 'Release' }, [
    'Not released yet: ',
    h('a', { href: withBase('/reference/stability#before-the-first-release') }, 'install it from a checkout'),
  ])
}

const Frameworks = defineComponent({
  setup() {
    const { page } = useData()
    return () =>
      h(
        'nav',
        { class: 'frameworks', 'aria-label': 'Framework' },
        Object.entries(QUICK_STARTS).map(([value, name]) =>
          h(
            'a',
            {
              href: withBase(`/getting-started/${name}`),
              'aria-current': frameworkOf(page.value.relativePath) === value ? 'page' : undefined,
              onClick: () => choose('framework', value),
            },
            CHOICES.framework.values[value],
          ),
        ),
      )
  },
})

function frameworkOf(path) {
  return Object.keys(QUICK_STARTS).find(value => path === `getting-started/${QUICK_STARTS[value]}.md`)
}

const CopyPage = defineComponent({
  setup() {
    const { page } = useData()
    const state = ref('Copy page as Markdown')

    async function copy() {
      try {
        const response = await fetch(withBase(`/${page.value.relativePath}`))
        if (!response.ok) throw new Error(String(response.status))
        await navigator.clipboard.writeText(await response.text())
        state.value = 'Copied'
      } catch {
        state.value = 'Could not copy'
      }
      setTimeout(() => (state.value = 'Copy page as Markdown'), 2000)
    }

    return () =>
      h(
        'div',
        { class: 'copy-page' },
        h('button', { type: 'button', 'aria-live': 'polite', onClick: copy }, state.value),
      )
  },
})

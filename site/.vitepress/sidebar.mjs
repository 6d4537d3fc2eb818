import { byReadingOrder } from './readmes.mjs'

/** Pages of each section, in reading order. A page that is missing here fails `test/docs/site.test.ts`. */
const SECTIONS = {
  Start: [
    'getting-started/what-it-is.md',
    'getting-started/express.md',
    'getting-started/typescript.md',
    'getting-started/testing-your-handlers.md',
    'getting-started/while-you-develop.md',
    'getting-started/coding-agents.md',
    'getting-started/fastify.md',
    'getting-started/hono.md',
    'getting-started/node-http.md',
    'getting-started/nextjs.md',
    'getting-started/nestjs.md',
    'getting-started/bun.md',
    'getting-started/deno.md',
    'getting-started/workers.md',
    'getting-started/aws-lambda.md',
    'getting-started/other-frameworks.md',
    'getting-started/verify-only.md',
    'getting-started/commonjs.md',
    'getting-started/monorepos.md',
    'getting-started/moving-from-a-hand-written-receiver.md',
  ],
  Understand: [
    'understand/delivery-lifecycle.md',
    'understand/what-a-2xx-means.md',
    'understand/choosing-an-inbox.md',
    'understand/one-file-or-queue.md',
    'understand/exactly-once-effects.md',
    'understand/order.md',
    'understand/comparison.md',
    'faq.md',
    'glossary.md',
  ],
  Run: [
    'run/troubleshooting.md',
    'run/going-live.md',
    'run/deploying.md',
    'run/hosts.md',
    'run/scaling-out.md',
    'run/sizing.md',
    'run/monitoring.md',
    'run/error-tracking.md',
    'run/dead-letters.md',
    'run/your-database.md',
    'run/workflows.md',
    'run/missed-events.md',
    'run/contract.md',
    'run/privacy.md',
    'run/securing.md',
  ],
  Reference: [
    'reference/options.md',
    'errors.md',
    'wrong-options.md',
    'reference/the-contract.md',
    'reference/event-types.md',
    'reference/the-emulator.md',
    'reference/sending-messages.md',
    'reference/stability.md',
    'reference/peers.md',
    'README.md',
  ],
  Packages: 'packages',
  API: 'api',
  Extend: 'extending',
  Internals: ['internals/guarantees.md', 'internals/performance.md'],
  Decisions: 'decisions',
}

/** Returns the menu for VitePress. A section that names a folder contains all of its pages. */
export function sidebar(titleOf, filesOf) {
  return Object.entries(SECTIONS).map(([text, pages], index) => {
    const items = (typeof pages === 'string' ? pagesOf(pages, filesOf) : pages).map(page => ({
      text: titleOf(page),
      link: addressOf(page),
    }))
    // With a link, a section's title is no button: one that can be collapsed would have a button within a button.
    return { text, items, link: items[0]?.link, ...(index > 4 && { collapsed: true }) }
  })
}

/** Returns the site's URL for a file in `docs`. */
export function addressOf(page) {
  if (page === 'getting-started/what-it-is.md') return '/'
  if (page === 'README.md') return '/contents'
  return `/${page.replace(/\.md$/, '').replace(/README$/, '')}`
}

function pagesOf(folder, filesOf) {
  return filesOf(folder)
    .filter(file => file.endsWith('.md'))
    .sort(folder === 'packages' ? byReadingOrder : undefined)
    .map(file => `${folder}/${file}`)
}

import { reactive } from 'vue'

/** What a reader can choose once for all pages: the first of each is what the pages are written in. */
export const CHOICES = {
  manager: { label: 'Package manager', values: { npm: 'npm', pnpm: 'pnpm', yarn: 'yarn', bun: 'bun' } },
  language: { label: 'Language', values: { js: 'JavaScript', ts: 'TypeScript' } },
  shell: { label: 'Shell', values: { posix: 'macOS, Linux', powershell: 'PowerShell (not tested)' } },
  framework: {
    label: 'Framework',
    values: { express: 'Express', fastify: 'Fastify', hono: 'Hono', node: 'node:http' },
  },
}

/** Current choices. Unset until the browser has read them, so that the first rendering equals the server's. */
export const chosen = reactive({})

/** Reads the choices that the script in the page's head has already put on the root element. */
export function readChoices() {
  for (const choice of Object.keys(CHOICES))
    chosen[choice] = document.documentElement.dataset[choice] ?? first(choice)
}

export function choose(choice, value) {
  chosen[choice] = value
  document.documentElement.dataset[choice] = value
  try {
    localStorage.setItem(`choice-${choice}`, value)
  } catch {
    // Storage may be blocked: the choice then lasts until the page is left.
  }
}

export function first(choice) {
  return Object.keys(CHOICES[choice].values)[0]
}

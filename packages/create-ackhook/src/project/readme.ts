import { type Choices, QUESTIONS } from './choices.ts'
import type { Code } from './code.ts'
import { DURABLE_INBOXES } from './inboxes.ts'
import type { Facts } from './manifest.ts'

const DOCS = 'https://github.com/ackhook/ackhook/blob/main/docs/README.md'

/** The README: the commands, and where things are. */
export function readme(code: Code, { framework, inbox, tests }: Choices, { name, agent }: Facts): string {
  const start = code.extension === 'ts' ? 'dist/server.js' : 'src/server.js'
  const stored = DURABLE_INBOXES[inbox]?.readme ?? 'Events wait in memory: a crash loses those that wait.'
  return `# ${name}

Receives webhooks with [Ackhook](${DOCS}) on ${QUESTIONS.framework.answers[framework]}.
${stored}

\`\`\`sh
${agent} install
${agent} run start     # the app on port 3000, with the settings in .env
${agent} run send      # in a second terminal: a signed event, as the platform sends it
${agent} run emulator  # or the whole platform: retries, a log, faults and a page
${tests ? `${agent} run test\n` : ''}\`\`\`

Handlers are in \`src/app.${code.extension}\`. In production run \`node ${start}\`, with your endpoint's \`SIGNING_SECRET\`.
`
}

import { type Choices, QUESTIONS } from './choices.ts'
import type { Code } from './code.ts'
import { DATABASE, hasDatabase } from './database.ts'
import { DURABLE_INBOXES } from './inboxes.ts'
import type { Facts } from './manifest.ts'

const DOCS = 'https://github.com/ackhook/ackhook/blob/main/docs/README.md'

/** Returns the README: the commands and the place of the handlers. */
export function readme(code: Code, choices: Choices, { name, manager, runsTypeScript }: Facts): string {
  const { framework, inbox, tests } = choices
  const agent = manager.name
  const isTyped = code.extension === 'ts'
  const start = isTyped ? 'dist/server.js' : 'src/server.js'
  const compiler = isTyped && !runsTypeScript ? `, with \`npx tsc --watch\` in another terminal` : ''
  const stored = DURABLE_INBOXES[inbox]?.readme ?? 'Waiting events are kept in memory: a crash loses them.'
  return `# ${name}

Receives webhooks with [Ackhook](${DOCS}) on ${QUESTIONS.framework.answers[framework]}.
${stored}
${hasDatabase(choices) ? `\n${DATABASE.readme}\n` : ''}
\`\`\`sh
${agent} install
${hasDatabase(choices) ? `${agent} run schema    # once: creates the tables\n` : ''}${agent} run start     # starts the app on port 3000, with the settings in .env
${agent} run send      # in a second terminal: sends a signed event, as the platform does
${agent} run emulator  # or runs the whole platform: retries, a log, faults and a page
${isTyped ? `${agent} run typecheck\n` : ''}${tests ? `${agent} run test\n` : ''}\`\`\`

While you write, \`${agent} run dev\` restarts the app at each save${compiler}.

Handlers are in \`src/app.${code.extension}\`. In production, run \`node ${start}\` with your endpoint's \`SIGNING_SECRET\`, or build an image with the \`Dockerfile\`.
\`/health/ready\` and \`/health/live\` are its probes; on SIGTERM it finishes running handlers and ends.
`
}

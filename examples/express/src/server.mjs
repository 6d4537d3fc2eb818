// @ts-check
import { gracefulShutdown } from '@ackhook/core/node'
import { sign } from '@ackhook/testing'
import { createApp } from './app.mjs'

const secret = process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out'
const port = Number(process.env['PORT'] ?? 3000)

const { app, hooks } = createApp({ secret })

hooks.on('conversation.resolved', event => {
  console.log(`handled ${event.id}: ${event.data.conversation_id} was resolved by ${event.data.resolved_by}`)
})
hooks.onUnhandled(event => {
  console.log(`no handler for ${event.type} (${event.id}); it was acknowledged anyway`)
})

const server = app.listen(port, error => {
  // Express passes startup errors here, such as a port in use.
  if (error) throw error
  console.log(`Listening on http://localhost:${port}/webhooks. Try it within five minutes (Ctrl+C stops):\n`)
  console.log(curlLine())
})

// Finishes acknowledged events before the process ends.
gracefulShutdown(hooks, server)

function curlLine() {
  const body = JSON.stringify({
    id: `evt_${Date.now()}`,
    type: 'conversation.resolved',
    created_at: new Date().toISOString(),
    data: { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' },
  })
  return [
    `curl -i http://localhost:${port}/webhooks`,
    `-H 'Content-Type: application/json'`,
    `-H 'X-Service-Signature: ${sign(body, { secret })}'`,
    `-d '${body}'`,
  ].join(' \\\n  ')
}

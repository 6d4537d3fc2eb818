import { waitUntil } from 'cloudflare:workers'
import { handleWebhook } from '../webhooks.server.js'

export const action = ({ request }) => handleWebhook(request, { waitUntil })

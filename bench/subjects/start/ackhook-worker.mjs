import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'

const hooks = webhooks({ secret: globalThis.BENCH_SECRET })
hooks.on('conversation.resolved', () => {})
const app = new Hono()
app.post('/', hooks)

// biome-ignore lint/style/noDefaultExport: Workers find their handler this way
export default app

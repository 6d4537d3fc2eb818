import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'

const hooks = webhooks({ secret: globalThis.BENCH_SECRET })
hooks.on('conversation.resolved', () => {})
const app = new Hono()
app.post('/', hooks)

// biome-ignore lint/style/noDefaultExport: that is how Workers find their handler
export default app

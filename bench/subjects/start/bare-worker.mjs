import { Hono } from 'hono'

const app = new Hono()
app.post('/', context => context.body(null, 202))

// biome-ignore lint/style/noDefaultExport: that is how Workers find their handler
export default app

import { Hono } from 'hono'

const app = new Hono()
app.post('/', context => context.body(null, 202))

// biome-ignore lint/style/noDefaultExport: Workers find their handler this way
export default app

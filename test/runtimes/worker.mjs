import { createApp } from './app.mjs'
import { options } from './options.mjs'

// biome-ignore lint/style/noDefaultExport: that is how Workers find their handler
export default createApp({ ...options, secretOf: env => env.SIGNING_SECRET })

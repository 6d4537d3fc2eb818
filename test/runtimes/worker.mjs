import { createApp } from './app.mjs'
import { options } from './options.mjs'

// biome-ignore lint/style/noDefaultExport: Workers find their handler this way
export default createApp({ ...options, secretOf: env => env.SIGNING_SECRET })

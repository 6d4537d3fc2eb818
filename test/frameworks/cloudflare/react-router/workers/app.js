import { createRequestHandler } from 'react-router'

const handle = createRequestHandler(() => import('virtual:react-router/server-build'), import.meta.env.MODE)

// biome-ignore lint/style/noDefaultExport: Workers look for it.
export default { fetch: request => handle(request) }

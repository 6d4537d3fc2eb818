import { cloudflare } from '@cloudflare/vite-plugin'
import { reactRouter } from '@react-router/dev/vite'

// biome-ignore lint/style/noDefaultExport: Vite looks for it.
export default { plugins: [cloudflare({ viteEnvironment: { name: 'ssr' } }), reactRouter()] }

import { sveltekit } from '@sveltejs/kit/vite'

// An installed package stays external until Wrangler bundles it; a linked package, as here, would not.
// biome-ignore lint/style/noDefaultExport: Vite looks for it.
export default { plugins: [sveltekit()], ssr: { external: ['@ackhook/core'] } }

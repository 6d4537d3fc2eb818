import { sveltekit } from '@sveltejs/kit/vite'

// An installed package stays outside the bundle; a linked package, as here, would not.
export default { plugins: [sveltekit()], ssr: { external: ['@ackhook/core'] } }

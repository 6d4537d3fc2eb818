import { sveltekit } from '@sveltejs/kit/vite'

// A package that is installed stays outside the bundle; one that is linked, as here, would not.
export default { plugins: [sveltekit()], ssr: { external: ['@ackhook/core'] } }

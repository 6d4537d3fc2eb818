import adapter from '@sveltejs/adapter-cloudflare'

// biome-ignore lint/style/noDefaultExport: SvelteKit looks for it.
export default { kit: { adapter: adapter() } }

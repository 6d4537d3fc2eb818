import { route } from '@react-router/dev/routes'

// biome-ignore lint/style/noDefaultExport: React Router looks for it.
export default [route('webhooks', 'routes/webhooks.js'), route('without', 'routes/without.js')]

// biome-ignore lint/style/noDefaultExport: React Router looks for it.
export default function Root() {
  return null
}

declare module 'cluster-key-slot' {
  /** Returns the slot of a Redis Cluster that holds this key. */
  // biome-ignore lint/style/noDefaultExport: the package is CommonJS, and exports only this function.
  export default function calculateSlot(key: string): number
}

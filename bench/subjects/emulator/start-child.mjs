/** Starts an emulator and reports how long that took, loading included. */
const startedAt = performance.now()
const { startEmulator } = await import('@ackhook/emulator')
const emulator = await startEmulator({ port: 0, to: 'http://127.0.0.1:3000/webhooks' })
process.send({ ms: performance.now() - startedAt })
await emulator.close()
process.disconnect()

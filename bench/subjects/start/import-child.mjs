/** Sends what importing the adapter takes once Express itself is there. */
await import('express')
const began = performance.now()
await import('@ackhook/express')
process.send({ ms: performance.now() - began }, () => process.exit())

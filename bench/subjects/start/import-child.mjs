/** Sends the time that importing the adapter takes after Express itself is imported. */
await import('express')
const began = performance.now()
await import('@ackhook/express')
process.send({ ms: performance.now() - began }, () => process.exit())

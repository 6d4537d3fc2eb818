#!/usr/bin/env node
const { argv, stdout, stderr, versions } = process
const [major = 0, minor = 0] = versions.node.split('.').map(Number)

// Imported only then: an old Node would end with a SyntaxError of a dependency. A static import comes before any check.
if (major > 20 || (major === 20 && minor >= 19)) {
  const [{ run }, { processTerminal }, { acceptPrintedSecrets }] = await Promise.all([
    import('./run.ts'),
    import('./terminal/terminal.ts'),
    import('@ackhook/core/spi'),
  ])
  // The quick starts' secret, with which an app is tried out.
  acceptPrintedSecrets()
  process.exitCode = await run(argv.slice(2), processTerminal())
  // Ends the process even if a tested module left connections open. Both streams are flushed first, as they may be pipes.
  setTimeout(() => stdout.write('', () => stderr.write('', () => process.exit())), 1000).unref()
} else {
  stderr.write(`ackhook needs Node 20.19 or later; this is Node ${versions.node}.\n`)
  process.exitCode = 2
}

// Top-level await needs a module.
export {}

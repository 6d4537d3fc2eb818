#!/usr/bin/env node
const { argv, stdin, stdout, stderr, env, versions } = process
const [major = 0, minor = 0] = versions.node.split('.').map(Number)

// Imported only then: an old Node would end with a SyntaxError of a dependency. A static import comes before any check.
if (major > 20 || (major === 20 && minor >= 19)) {
  const { run } = await import('./run.ts')
  process.exitCode = await run(argv.slice(2), {
    input: stdin,
    output: stdout,
    errors: stderr,
    interactive: stdin.isTTY === true && stdout.isTTY === true && !env['CI'],
    cwd: process.cwd(),
    userAgent: env['npm_config_user_agent'],
  })
} else {
  stderr.write(`create-ackhook needs Node 20.19 or later; this is Node ${versions.node}.\n`)
  process.exitCode = 2
}

// Top-level await needs a module.
export {}

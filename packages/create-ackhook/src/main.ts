#!/usr/bin/env node
import { run } from './run.ts'

const { stdin, stdout, stderr, env } = process
process.exitCode = await run(process.argv.slice(2), {
  input: stdin,
  output: stdout,
  errors: stderr,
  interactive: stdin.isTTY === true && stdout.isTTY === true && !env['CI'],
  cwd: process.cwd(),
  userAgent: env['npm_config_user_agent'],
})

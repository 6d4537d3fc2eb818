import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ROOT } from '../../../test/support/workspace-packages.ts'

const run = promisify(execFile)
/** Node without `crypto.hash`, such as 18. */
const OLDER = `data:text/javascript,${encodeURIComponent(
  "import m from 'node:module'; import crypto from 'node:crypto'; delete crypto.hash; m.syncBuiltinESMExports()",
)}`

it('a Node that is too old gets an error with the version needed', async () => {
  const script = ['--import', OLDER, '--input-type=module', '-e', "await import('@ackhook/core')"]
  const failed = run(process.execPath, script, { cwd: `${ROOT}packages/express` })
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringContaining(`Ackhook needs Node 20.19 or later; this is Node ${process.version}.`),
  })
})

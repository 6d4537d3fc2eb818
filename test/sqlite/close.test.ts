import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { withFolder } from './start-inbox.ts'

const child = fileURLToPath(new URL('close-locked-child.mjs', import.meta.url))

it('closes while another process holds the file, and the process ends by itself', () =>
  withFolder(async folder => {
    // Rejects when the process ends with anything but 0, or with a signal.
    const { stdout } = await promisify(execFile)(process.execPath, [child, join(folder, 'inbox.db')])
    expect(stdout.trim().split('\n')).toEqual(['{"lost":0}', 'the rest of the shutdown'])
  }))

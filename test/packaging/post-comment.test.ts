import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

/** Runs the script with a `gh` that records its arguments, and returns them with what would be posted. */
function post(write: (comment: string) => void, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'comment-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // The words of each call, one a line, as a shell received them.
  writeFileSync(join(folder, 'gh'), `#!/bin/sh\nprintf '%s\\n' "$@" >> calls\n[ "$1" = pr ] || echo 12\n`)
  chmodSync(join(folder, 'gh'), 0o755)
  write(join(folder, 'comment.md'))
  const { status } = spawnSync(`${ROOT}.github/post-comment.sh`, {
    cwd: folder,
    env: {
      PATH: `${folder}:${process.env['PATH']}`,
      GITHUB_REPOSITORY: 'ackhook/ackhook',
      OWNER: 'fork',
      BRANCH: 'fix',
      SHA: 'a1',
      ...env,
    },
  })
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  return { status, calls: read('calls').split('\n'), posted: read('quoted.md') }
}

const comment = (text: string | Buffer) => (path: string) => writeFileSync(path, text)

test('a text of the pull request is posted as text', () => {
  const hostile =
    '@everyone [x](http://evil.test) <img src=//evil.test>\r![](//evil.test)\r\n```\n# x\n\u001b[31m\u0000\n\ttab'
  const { status, posted } = post(comment(hostile))
  expect(status).toBe(0)
  const [, blank, ...lines] = posted.trimEnd().split('\n')
  expect(blank).toBe('')
  expect(lines.filter(line => !line.startsWith('    '))).toEqual([])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  expect(posted).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
})

test('a text too long for GitHub is cut between characters', () => {
  const { status, posted } = post(comment(`${'é\n'.repeat(3000)}${'€'.repeat(100_000)}`))
  expect(status).toBe(0)
  expect(posted.length).toBeLessThan(60_000)
  expect(posted).not.toContain('\ufffd')
  expect(post(comment(Buffer.from([0xff, 0x41, 0x0a, 0xc3]))).posted).toContain('    A\n')
})

test('a name of a branch is one value of one parameter', () => {
  const branch = 'x&state=all&head=other:y#$(id)'
  const { calls } = post(comment('text'), { BRANCH: branch })
  expect(calls).toContain(`head=fork:${branch}`)
  expect(calls.slice(0, 3)).toEqual(['api', '--method', 'GET'])
})

test('a link in the archive is not followed', () => {
  const { status, calls } = post(path => symlinkSync('/etc/passwd', path))
  expect(status).toBe(1)
  expect(calls).toEqual([''])
})

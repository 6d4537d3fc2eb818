import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

// The child is plain Node and runs the built file.
const built = new URL('../dist/spi.js', import.meta.url)

function run(code: string): string {
  const script = `import { createTimeouts } from '${built}'; ${code}`
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
  })
}

it('timeouts keep the process alive until they fire or are cancelled', () => {
  expect(run("createTimeouts(50).set(() => console.log('rung'))")).toBe('rung\n')
  expect(run("createTimeouts(3_600_000).set(() => console.log('rung')).cancel()")).toBe('')
  const again =
    "const timeouts = createTimeouts(50); timeouts.set(() => {}).cancel(); timeouts.set(() => console.log('again'))"
  expect(run(again)).toBe('again\n')
})

import { describe, expect, it } from 'vitest'
import { FaultError } from '../../protocol/fault.ts'
import { loadDriver } from './driver.ts'
import { isNewEnough } from './sqlite-version.ts'

/** Creates a module like `node:sqlite` with SQLite `version`. */
function driverOf(version: string, opened: string[] = []) {
  return {
    DatabaseSync: class {
      constructor(path: string) {
        opened.push(path)
      }
      prepare() {
        return { get: () => ({ version }) }
      }
      close() {}
    },
  }
}

function loader(modules: Readonly<Record<string, unknown>>) {
  return async (name: string): Promise<unknown> => {
    if (modules[name] !== undefined) return modules[name]
    throw Object.assign(new Error(`no ${name}`), { code: 'ERR_MODULE_NOT_FOUND' })
  }
}

describe('the driver of sqliteInbox', () => {
  it('is node:sqlite if that is new enough', async () => {
    const opened: string[] = []
    const open = await loadDriver(loader({ 'node:sqlite': driverOf('3.51.3', opened) }))
    open('a.db')
    expect(opened).toEqual([':memory:', 'a.db'])
  })

  it('is the package if node:sqlite is too old or missing', async () => {
    for (const builtin of [{ 'node:sqlite': driverOf('3.51.2') }, {}]) {
      const opened: string[] = []
      const open = await loadDriver(
        loader({ ...builtin, '@photostructure/sqlite': driverOf('3.53.0', opened) }),
      )
      open('a.db')
      expect(opened).toContain('a.db')
    }
  })

  it('is refused if none is new enough, with an error that names the package to install', async () => {
    const load = loader({ 'node:sqlite': driverOf('3.50.4') })
    await expect(loadDriver(load)).rejects.toThrow(FaultError)
    await expect(loadDriver(load)).rejects.toThrow(
      /3\.51\.3.*node:sqlite includes SQLite 3\.50\.4.*npm install/,
    )
  })

  it('may be older for a tool that requires less', async () => {
    const load = loader({ 'node:sqlite': driverOf('3.50.4') })
    await expect(loadDriver(load, '3.43.0')).resolves.toBeTypeOf('function')
  })

  it('does not hide a driver that is installed and fails to load', async () => {
    const load = async () => {
      throw Object.assign(new Error('wrong ELF class'), { code: 'ERR_DLOPEN_FAILED' })
    }
    await expect(loadDriver(load)).rejects.toThrow('wrong ELF class')
  })
})

it('compares versions by their parts, not as text', () => {
  const results = ['3.51.2', '3.51.3', '3.51.10', '3.9.0', '3.52.0', '4.0.0', '2.99.99'].map(one =>
    isNewEnough(one),
  )
  expect(results).toEqual([false, true, true, false, true, true, false])
})

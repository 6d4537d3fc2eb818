import { type SuiteCase, storeSuite } from '@ackhook/conformance/store'
import type { Mutant } from '../mutant.ts'
import { Server, type SmallStore } from './small-store.ts'

type StoreClass = new (server: Server) => SmallStore

/** Returns the suite's cases for two views of one store, with every hook. */
export function casesOn(Store: StoreClass): readonly SuiteCase[] {
  const target = (room?: number) => {
    const server = new Server(room)
    return { server, first: new Store(server), second: new Store(server) }
  }
  return storeSuite({
    open: () => target(),
    openSmall: target,
    openCounted() {
      const { server, ...views } = target()
      return { ...views, count: () => server.rows.size }
    },
    openFailing() {
      const { server, ...views } = target()
      const fail = (isFailing: boolean) => {
        server.isFailing = isFailing
      }
      return { ...views, fail }
    },
  })
}

export function storeMutant(
  name: string,
  { wrong, caughtBy }: Pick<Mutant, 'wrong' | 'caughtBy'>,
  Store: StoreClass,
): Mutant {
  return { name, wrong, caughtBy, cases: () => casesOn(Store) }
}

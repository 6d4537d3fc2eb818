import type { CreatedBy as OnNode } from './evaluation.ts'

/** Where no process outlives the module that it runs, such as on Workers, no receiver has an earlier one to replace. */
export const CreatedBy = {
  find(..._: Parameters<typeof OnNode.find>): OnNode | undefined {
    return undefined
  },
}

import type { Control } from '../mutant.ts'
import { SmallStore } from './small-store.ts'
import { casesOn } from './store-mutant.ts'

export const control: Control = () => casesOn(SmallStore)

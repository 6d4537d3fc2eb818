import type { Control } from '../mutant.ts'
import { FileInbox } from './file-inbox.ts'
import { casesOnFile } from './file-mutant.ts'
import { casesOn } from './inbox-mutant.ts'
import { TableInbox } from './table-inbox.ts'
import { casesOnTable } from './table-mutant.ts'

export const control: Control = () => [
  ...casesOn(() => ({})),
  ...casesOnFile(FileInbox),
  ...casesOnTable(TableInbox),
]

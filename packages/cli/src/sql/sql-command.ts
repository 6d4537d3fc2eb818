import { Argument, Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { loadFromProject } from '../command/load-from-project.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Ddl = (dialect: string) => string

export function sqlCommand(terminal: Terminal, finish: Finish): Command {
  return new Command('sql')
    .description('Print the tables of @ackhook/sql, for your own migration tool')
    .addArgument(
      new Argument('<database>', 'which database; mysql is MariaDB too').choices([
        'postgres',
        'mysql',
        'sqlite',
      ]),
    )
    .addHelpText('after', HELP)
    .action(async (database: string) => {
      const ddl = await loadFromProject<Ddl>('@ackhook/sql', 'ddl', terminal.cwd)
      terminal.out(ddl(database).trimEnd())
      finish(0)
    })
}

const HELP = `
Nothing is created: add the statements to a migration of Prisma, drizzle-kit, Knex, TypeORM or any other tool.

Examples:
  $ npx ackhook sql postgres | psql "$DATABASE_URL"
  $ npx ackhook sql mysql > migrations/20260101_ackhook.sql`

/** A measured value; values beside it come from the same run, because on a shared machine only ratios mean anything. */
export interface Figure {
  /** The operation that was measured, as a reader of the table knows it. */
  path: string;
  /** Rows of the account; undefined where the operation does not depend on them. */
  rows?: number;
  unit: '/s' | 'ms' | 's' | 'MB' | '%';
  ours: number;
  /** The figure of the machine when nothing is checked, presented or recorded that the path could do without. */
  limit?: Named;
  /** Packages of npm that do the same. */
  peers?: Named[];
  cost?: Cost;
  /** Further cells, by the head of their column: figures with the same heads are printed in a table of their own. */
  cells?: Record<string, string>;
}

/** A value and its name. */
export interface Named {
  name: string;
  value: number;
}

/** The cost of one operation on the wire to the database. */
export interface Cost {
  trips: number;
  statements: number;
}

/** The database and the sizes that a bench measures in. */
export interface Setting {
  /** A database of its own, empty or with the account; it waits for the disk as PostgreSQL ships. */
  databaseUrl: string;
  /** Conversations of account 1, each with a message; 0 = the account does not exist yet. */
  rows: number;
  /** How many snoozes are due at once. */
  due: number;
  /** A file for what went wrong, if it is wanted. */
  failuresFile?: string | undefined;
}

/** A path that can be run alone, by its name. */
export interface Bench {
  name: string;
  /** A database of its own, or none; `account`: runs in a generated account, once for each requested size. */
  needs: 'nothing' | 'database' | 'account';
  /** It is ended after this time; generating the account does not count. */
  boundMs: number;
  run(setting: Setting): Promise<Figure[]>;
}

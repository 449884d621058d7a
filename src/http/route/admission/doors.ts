import type { Readable } from 'node:stream';
import type { SchemaName, Shape } from '../../../schemas.ts';
import type { Calls, ParametersOf, Sent } from '../call.ts';
import type { DoorName, RoleAt } from './roles.ts';
import type { Contract, Route, Steps, Unchanged } from '../route.ts';

/** Prefixes of the paths behind each door. */
interface Beginnings {
  account: '/api/v1/accounts/:account_id';
  platform: '/platform/api/v1/' | '/api/v1/profile';
  visitor: '/public/api/v1/inboxes/:identifier/';
  open: '/';
}

/** Properties of a contract that exist behind one door only. */
interface OwnClauses {
  account: 'inBatches';
  platform: 'inBatches';
  visitor: never;
  open: 'needsNoDatabase' | 'cacheable' | 'anyOrigin';
}

type Terms<Door extends DoorName, Reply, Body, Query, WithFiles> = Omit<
  Contract,
  'summary' | 'role' | 'reply' | 'body' | 'query' | 'withFiles' | OwnClauses[DoorName]
> &
  Pick<Contract, OwnClauses[Door]> & {
    role: RoleAt<Door>;
    reply: Reply;
    body?: Body;
    query?: Query;
    withFiles?: WithFiles;
  };

/** The value that a handler may return: of the reply's schema, or nothing where that is `resources/empty`. */
type Answer<Reply extends SchemaName> =
  | Shape<Reply>
  | Unchanged<Shape<Reply>>
  | (Reply extends 'resources/empty' ? void : never);

type ShapeOf<Name> = Name extends SchemaName ? Shape<Name> : undefined;

type CallOf<Door extends DoorName, Path extends string, Body, Query, WithFiles = Body> = Calls[Door] &
  Sent<ParametersOf<Path>, ShapeOf<Body> | ShapeOf<WithFiles>, ShapeOf<Query>>;

function door<Door extends DoorName>() {
  return function row<
    Path extends `${Beginnings[Door]}${string}`,
    Reply extends SchemaName,
    Body extends SchemaName | undefined = undefined,
    Query extends SchemaName | undefined = undefined,
    Prepared = undefined,
    WithFiles extends SchemaName | Body = Body,
  >(
    [method, path, summary]: readonly [method: Route['method'], path: Path, summary: string],
    terms: Terms<Door, Reply, Body, Query, WithFiles>,
    operation:
      | ((call: CallOf<Door, Path, Body, Query, WithFiles>) => Promise<Answer<Reply>>)
      | Steps<CallOf<Door, Path, Body, Query, WithFiles>, Prepared, Answer<Reply>>,
  ): Route {
    const steps = typeof operation === 'function' ? { handle: operation } : operation;
    // Safe: only calls of the row's own door, path and contract reach its steps.
    return { method, path, contract: { ...terms, summary } as Contract, steps: steps as unknown as Route['steps'] };
  };
}

/** A call that opens a stream: the client's last event, and the address that it comes from. */
type StreamCall<Door extends DoorName, Path extends string, Query> = CallOf<Door, Path, undefined, Query> & {
  lastEventId: string | null;
  address: string;
};

function streamDoor<Door extends 'account' | 'visitor'>() {
  return function row<Path extends `${Beginnings[Door]}${string}`, Query extends SchemaName | undefined = undefined>(
    [method, path, summary]: readonly [method: 'GET', path: Path, summary: string],
    terms: Pick<Contract, 'errors' | 'description'> & { role: RoleAt<Door>; reply: SchemaName; query?: Query },
    handle: (call: StreamCall<Door, Path, Query>) => Promise<() => Readable>,
  ): Route {
    // Safe: only calls of the row's own door, path and contract reach its handler (serve-stream.ts).
    const steps = { handle } as unknown as Route['steps'];
    return { method, path, contract: { ...terms, summary, stream: true } as Contract, steps };
  };
}

/**
 * Make the rows of the route table: `doors.account([method, path, summary], contract, handler or steps)`. Path
 * parameters are typed by the path's text; body, query and answer by the contract's schemas; the call by the door. A row of
 * `stream` and `visitorStream` answers a stream of events: its handler finds where it begins, and returns what opens it.
 */
export const doors = {
  account: door<'account'>(),
  platform: door<'platform'>(),
  visitor: door<'visitor'>(),
  open: door<'open'>(),
  stream: streamDoor<'account'>(),
  visitorStream: streamDoor<'visitor'>(),
};

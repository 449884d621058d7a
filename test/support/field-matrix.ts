import { clientMatrix } from './clients.ts';

/** Who may call the operations that clients of the field know beside those of the contract: rows of the table in matrix.test.ts. */
export const fieldMatrix = `
  GET    /api                                                     200  200 200  200 200 200   200  200  200   200  200  200 200
  GET    conversations/meta                                       200  200 200  200 200 200   404  404  404   401  401  401 401
  POST   conversations/filter                                     200  200 200  200 200 200   404  404  404   401  401  401 401
  POST   contacts/filter                                          200  200 200  200 403 403   404  404  404   401  401  401 401
  GET    search                                                   200  200 200  200 403 403   404  404  404   401  401  401 401
  POST   conversations/:id/toggle_priority                        200  200 200  403 200 403   404  404  404   401  401  401 401
  POST   conversations/:id/custom_attributes                      200  200 200  403 200 403   404  404  404   401  401  401 401
  GET    contacts/:id/labels                                      200  200 200  200 403 403   404  404  404   401  401  401 401
  POST   contacts/:id/labels                                      200  200 200  200 403 403   404  404  404   401  401  401 401
  GET    conversations/:id/participants                           200  200 200  403 403 403   404  404  404   401  401  401 401
  POST   conversations/:id/transcript                             200  200 200  403 403 403   404  404  404   401  401  401 401
  GET    conversations/:id/attachments                            200  200 200  403 403 403   404  404  404   401  401  401 401
  GET    contacts/:id/attachments                                 200  200 200  200 403 403   404  404  404   401  401  401 401
  GET    inbox_members/:inbox_id                                  200  200 403  403 403 403   404  404  404   401  401  401 401
  POST   inbox_members                                            200  403 403  403 403 403   404  404  404   401  401  401 401
  PATCH  inbox_members                                            200  403 403  403 403 403   404  404  404   401  401  401 401
  DELETE inbox_members                                            200  403 403  403 403 403   404  404  404   401  401  401 401
`.concat(...Object.entries(clientMatrix).map(([name, statuses]) => `${name} ${statuses}\n`));

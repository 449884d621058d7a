/** Who may call the operations on a person's own profile, tokens and sign-ins: rows of the table in matrix.test.ts. */
export const signInMatrix = `
  POST   agents/:id/sign_in_link                                  200  403 403  403 403 403   404  404  404   401  401  401 401
  DELETE agents/:id/second_factor                                 200  403 403  403 403 403   404  404  404   401  401  401 401
  GET    /api/v1/profile                                          200  200 200  200 403 403   403  200  200   401  401  401 401
  POST   /api/v1/profile/reset_access_token                       200  200 200  200 403 403   403  200  200   401  401  401 401
  GET    /api/v1/profile/access_tokens                            200  200 200  200 403 403   403  200  200   401  401  401 401
  DELETE /api/v1/profile/access_tokens/:id                        200  404 404  404 403 403   403  404  404   401  401  401 401
  GET    /api/v1/profile/security                                 200  200 200  200 403 403   403  200  200   401  401  401 401
  POST   /api/v1/profile/security/password                        200  200 200  200 403 403   403  200  200   401  401  401 401
  DELETE /api/v1/profile/security/password                        200  200 200  200 403 403   403  200  200   401  401  401 401
  DELETE /api/v1/profile/sign_ins                                 200  200 200  200 403 403   403  200  200   401  401  401 401
  POST   /api/v1/profile/security/second_factor/confirm           422  422 422  422 403 403   403  422  422   401  401  401 401
  POST   /api/v1/profile/security/second_factor                   200  200 200  200 403 403   403  200  200   401  401  401 401
  POST   /api/v1/profile/security/second_factor/recovery_codes    422  422 422  422 403 403   403  422  422   401  401  401 401
  DELETE /api/v1/profile/security/second_factor                   200  200 200  200 403 403   403  200  200   401  401  401 401
  GET    /sign_in/methods                                         200  200 200  200 200 200   200  200  200   200  200  200 200
  POST   /sign_in/links                                           202  202 202  202 202 202   202  202  202   202  202  202 202
  POST   /sign_in/oidc                                            403  403 403  403 403 403   403  403  403   403  403  403 403
  GET    /sign_in/oidc/callback                                   403  403 403  403 403 403   403  403  403   403  403  403 403
  GET    /sign_in                                          200  200 200  200 200 200   200  200  200   200  200  200 200
  POST   /sign_in                                          201  201 201  201 201 201   201  201  201   201  201  201 201
  DELETE /sign_in                                          200  200 200  200 200 200   200  200  200   200  200  200 200
`;

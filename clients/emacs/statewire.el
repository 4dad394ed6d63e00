;;; statewire.el --- A todo list that a Statewire server keeps  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0

;; Version: 1.0.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: comm, processes

;;; Commentary:

;; An editor as a frontend.  `M-x statewire' starts a server of one's own and shows the list in its
;; database; `M-x statewire-connect' takes part in a server that runs, and with the handle of a
;; session in just that session: a page's, say.
;;
;; The list is the server's.  The keys only send inputs; what the buffer shows follows from the
;; notifications `store/changed', each with the patch that leads from one revision to the next.
;; PROTOCOL.md says all of it.  jsonrpc.el, a part of Emacs, does the rest.

;;; Code:

(require 'json)
(require 'jsonrpc)
(require 'seq)
(require 'statewire-json)
(eval-when-compile (require 'subr-x))

(defgroup statewire nil
  "Frontends of a Statewire server."
  :group 'applications)

(defcustom statewire-command '("statewire" "serve")
  "The words of the command that serves standard input and output."
  :type '(repeat string))

(defcustom statewire-check-seconds 5
  "How many seconds after a change the list is compared with the server's."
  :type 'number)

(defface statewire-done '((t :inherit shadow :strike-through t))
  "Face of todos that are completed.")

(defvar-local statewire--address nil
  "Where the server is: (HOST PORT SESSION), or nil for one that is spawned.")
(defvar-local statewire--open nil
  "The params of a `store/open' that has to come first, or nil.")
(defvar-local statewire--connection nil
  "The newest connection.")
(defvar-local statewire--status ""
  "What the line above the list says.")
(defvar-local statewire--state nil
  "The view state that is shown.")
(defvar-local statewire--revision nil
  "The revision of the state held, nil while a whole state is awaited.")
(defvar-local statewire--resyncs nil
  "Why the state was fetched anew, newest first: `gap', `patch' or `digest'.")
(defvar-local statewire--limits nil
  "The limits that the server has told, a plist.")
(defvar-local statewire--kept nil
  "Titles that are not accepted yet, oldest first, as plists.
`:type' is that of the input, `:id' the todo's, `:title' what was entered.
`:reason' says why it was not accepted; without one, the response is awaited.")
(defvar-local statewire--removed nil
  "The ids of the todos that were removed here.")
(defvar-local statewire--timer nil
  "The timer that compares the list with the server's.")

;;; The connection

(defun statewire--start-process (name)
  "Start the process of a connection with NAME: a server, or a socket to one."
  (condition-case fault
      (pcase statewire--address
        (`(,host ,port . ,_)
         (make-network-process :name name :host host :service port
                               :coding 'utf-8-emacs-unix :noquery t))
        (_ (make-process :name name :command statewire-command :connection-type 'pipe
                         :coding 'utf-8-emacs-unix :noquery t
                         :stderr (get-buffer-create (format "*%s stderr*" name)))))
    (file-error
     ;; What jsonrpc.el has made for the log of a server.
     (kill-buffer (format "*%s stderr*" name))
     (user-error "No connection, g tries again: %s"
                 (string-join (seq-take-while #'stringp (cdr fault)) ", ")))))

(defun statewire--connect ()
  "Connect anew, and show the list as it is."
  (statewire--disconnect)
  (setq statewire--status "No connection: g tries again"
        statewire--revision nil)
  (let ((name (symbol-name (gensym "statewire-"))))
    (setq statewire--connection
          (apply #'make-instance 'jsonrpc-process-connection
                 :name name
                 :process (lambda () (statewire--start-process name))
                 :notification-dispatcher (statewire--here #'statewire--notified)
                 :on-shutdown (statewire--here #'statewire--ended)
                 ;; No log of messages, which Emacs 30 wants to be told in another way.
                 (if (slot-exists-p 'jsonrpc-process-connection '-events-buffer-config)
                     '(:events-buffer-config (:size 0 :format short))
                   '(:events-buffer-scrollback-size 0)))))
  (statewire--request 'initialize '(:protocolVersion "1" :client (:name "statewire-emacs"))
                      (lambda (result) (setq statewire--limits (plist-get result :limits))))
  (if-let ((session (nth 2 statewire--address)))
      (statewire--request 'session/attach `(:session ,session) (lambda (_) (statewire--begin)))
    (statewire--begin)))

(defun statewire--begin ()
  "Ask for the list, and have it loaded."
  (when statewire--open (statewire--request 'store/open statewire--open))
  (statewire--subscribe)
  (statewire--request 'store/send (statewire--input "stateRequested")))

(defun statewire--connected-p ()
  "Say whether there is a server."
  (and statewire--connection (jsonrpc-running-p statewire--connection)))

(defun statewire--disconnect ()
  "End the connection, if there is one."
  (when statewire--timer (cancel-timer statewire--timer))
  (when-let ((connection statewire--connection))
    (setq statewire--connection nil statewire--timer nil)
    (jsonrpc-shutdown connection t)))

(defun statewire--request (method params &optional then failed)
  "Send the request METHOD with PARAMS; call THEN, in this buffer, with the result.
If there is none, call FAILED with the reason; without FAILED, show it.
The server gives no response to a frame that is too long, so none is sent."
  (let ((failed (or failed
                    (lambda (reason)
                      ;; `statewire--ended' tells that a connection has ended.
                      (when (statewire--connected-p) (statewire--say reason)))))
        (limit (plist-get statewire--limits :frameBytes)))
    (cond ((not (statewire--connected-p)) (funcall failed "not connected"))
          ((and limit (> (statewire--frame-bytes method params) limit))
           (funcall failed (format "a message has at most %d bytes" limit)))
          (t
           (condition-case fault
               (jsonrpc-async-request
                statewire--connection method params
                :success-fn (statewire--here (or then #'ignore))
                :error-fn (statewire--here
                           (lambda (fault) (funcall failed (plist-get fault :message))))
                :timeout-fn (statewire--here
                             (lambda () (funcall failed (format "no response to %s" method)))))
             ;; Text that is not Unicode cannot be written as JSON.
             (error (funcall failed (error-message-string fault))))))))

(defun statewire--frame-bytes (method params)
  "Compute how many bytes the request METHOD with PARAMS has."
  (let ((message `(:jsonrpc "2.0" :method ,method :id ,most-positive-fixnum :params ,params)))
    (string-bytes (encode-coding-string (json-encode message) 'utf-8-unix))))

(defun statewire--here (function)
  "Wrap FUNCTION, to work in this buffer if that is still there."
  (let ((buffer (current-buffer)))
    (lambda (&rest arguments)
      (when (buffer-live-p buffer)
        (with-current-buffer buffer (apply function arguments))))))

(defconst statewire--bidi "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
  "The characters that reorder the text beside them, as in a regexp.")

(defun statewire--visible (text)
  "Give TEXT with visible characters in place of those that control the display."
  (replace-regexp-in-string
   (format "[\0-\u001f\u007f-\u009f\u2028\u2029%s]" statewire--bidi)
   (lambda (found)
     (let ((code (aref found 0)))
       (string (cond ((< code ?\s) (+ #x2400 code)) ((= code #x7f) #x2421) (t #xfffd)))))
   text t t))

(defun statewire--say (text)
  "Show TEXT in the echo area, and above the list if that is stale."
  (let ((text (statewire--visible text)))
    (message "Statewire: %s" text)
    (unless statewire--revision (setq statewire--status text))
    (force-mode-line-update)))

(defun statewire--ended (connection)
  "Say that CONNECTION is no more, and what the server said last."
  (when (eq connection statewire--connection)
    (let ((fault (and (slot-boundp connection 'last-error) (jsonrpc-last-error connection)))
          (log (with-current-buffer (jsonrpc-stderr-buffer connection)
                 (car (last (split-string (buffer-string) "\n" t))))))
      (setq statewire--revision nil)
      (statewire--say (concat "The connection has ended: g connects again"
                              (when-let ((said (or (plist-get fault :message) log)))
                                (format " (%s)" said)))))))

;;; The state

(defun statewire--store ()
  "Name the store that is shown."
  (or (plist-get statewire--open :store) "todo"))

(defun statewire--input (type &rest members)
  "Make the params that send an input of TYPE with MEMBERS, a plist."
  `(:store ,(statewire--store) :input (:type ,type ,@members) :settle t))

(defun statewire--subscribe (&optional reason)
  "Ask for the whole state, with REASON when the one held is wrong.
Until it is there no frame is taken: it leads on from a state that is not held."
  (when reason (push reason statewire--resyncs))
  (setq statewire--revision nil)
  (statewire--request 'store/subscribe `(:store ,(statewire--store))
                      (lambda (answer)
                        (statewire--hold (plist-get answer :revision)
                                         (plist-get answer :state)))))

(defun statewire--hold (revision state)
  "Hold STATE at REVISION from now on, and show it."
  (setq statewire--revision revision
        statewire--state state
        ;; A title without a response may have been accepted all the same.
        statewire--kept (seq-remove #'statewire--there-p statewire--kept))
  (statewire--draw))

(defun statewire--notified (_connection method params)
  "Take the notification METHOD with PARAMS."
  (pcase method
    ('store/changed
     (when (and statewire--revision (equal (plist-get params :store) (statewire--store)))
       (statewire--changed params)))
    ((or 'store/closed 'session/closed)
     (setq statewire--revision nil)
     (statewire--say (format "The %s is %s: g opens it again"
                                              (if (eq method 'store/closed) "list" "session")
                                              (plist-get params :reason))))))

(defun statewire--changed (frame)
  "Take FRAME, the params of a `store/changed'."
  (if (not (eql (plist-get frame :base) statewire--revision))
      (statewire--subscribe 'gap)
    (condition-case nil
        (statewire--hold (plist-get frame :revision)
                         (statewire-patch statewire--state (plist-get frame :patch)))
      (statewire-patch-error (statewire--subscribe 'patch)))
    (unless statewire--timer
      (setq statewire--timer
            (run-with-timer statewire-check-seconds nil (statewire--here #'statewire--check))))))

(defun statewire--answered (answer)
  "Subscribe anew if ANSWER has a revision that never came."
  (when (and statewire--revision (> (plist-get answer :revision) statewire--revision))
    (statewire--subscribe 'gap)))

(defun statewire--check ()
  "Compare the list with the server's; fetch it anew if it is another."
  (setq statewire--timer nil)
  (statewire--request
   'store/state `(:store ,(statewire--store))
   (lambda (answer)
     (if (and (eql (plist-get answer :revision) statewire--revision)
              (/= (plist-get answer :digest) (statewire-digest statewire--state)))
         (statewire--subscribe 'digest)
       (statewire--answered answer)))))

;;; The list

(defun statewire--todos ()
  "Give the todos that are shown, a list."
  (append (plist-get statewire--state :todos) nil))

(defun statewire--draw ()
  "Show the state; point stays at its todo, or where that was, in each window too."
  (let* ((todos (statewire--todos))
         (places (mapcar (lambda (window)
                           (let ((at (if window (window-point window) (point))))
                             (list window (get-text-property at 'statewire-id)
                                   (line-number-at-pos at))))
                         (cons nil (get-buffer-window-list nil nil t)))))
    (setq statewire--status
          (if todos
              (format "%d of %d open" (seq-count #'statewire--open-p todos) (length todos))
            "Todos"))
    (with-silent-modifications
      (erase-buffer)
      (pcase (plist-get statewire--state :type)
        ("loading" (insert "Loading…\n"))
        ("error" (insert (format "The list cannot be shown: %s\nType g to try again.\n"
                                 (statewire--visible (plist-get statewire--state :message)))))
        (_ (if todos (mapc #'statewire--insert todos)
             (insert "Nothing to do. Type a to add something.\n")))))
    (pcase-dolist (`(,window ,id ,line) places)
      (let ((at (or (and id (text-property-any (point-min) (point-max) 'statewire-id id))
                    (progn (goto-char (point-min)) (forward-line (1- line)) (point)))))
        (if window (set-window-point window at) (goto-char at))))
    (force-mode-line-update)))

(defun statewire--open-p (todo)
  "Say whether TODO is still to be done."
  (not (eq (plist-get todo :completed) t)))

(defun statewire--insert (todo)
  "Insert the line of TODO."
  (let ((open (statewire--open-p todo))
        (title (statewire--visible (plist-get todo :title))))
    (insert (propertize (concat (if open "[ ] " "[x] ")
                                (propertize title 'face (if open 'default 'statewire-done))
                                "\n")
                        ;; One string for each todo, so that `eq' finds it.
                        'statewire-id (intern (plist-get todo :id))))))

(defun statewire--send (type &rest members)
  "Send an input of TYPE with MEMBERS."
  (unless (statewire--connected-p) (user-error "Not connected: g connects again"))
  (statewire--request 'store/send (apply #'statewire--input type members)
                      (lambda (answer)
                        (when (statewire--gone-p (plist-get members :id))
                          (statewire--say "The todo is gone: somebody has removed it"))
                        (statewire--answered answer))))

(defun statewire--gone-p (id)
  "Say whether somebody else has removed the todo with ID, or nil.
The server accepts an input to it, and does nothing."
  (and id (equal (plist-get statewire--state :type) "content")
       (not (member id statewire--removed))
       (not (statewire--todo id))))

(defun statewire--todo (id)
  "Give the todo with ID that is shown, or nil."
  (seq-find (lambda (todo) (equal (plist-get todo :id) id)) (statewire--todos)))

(defun statewire--at-point ()
  "Give the todo at point."
  (or (when-let ((id (get-text-property (point) 'statewire-id))) (statewire--todo (symbol-name id)))
      (user-error "No todo here")))

;;; Titles

(defun statewire--there-p (kept)
  "Say whether KEPT, of `statewire--kept', is on the list."
  (when-let ((todo (statewire--todo (plist-get kept :id))))
    (or (equal (plist-get kept :type) "todoAdded")
        (equal (plist-get kept :title) (plist-get todo :title)))))

(defun statewire--refused (type &optional id)
  "Give the first title that was not accepted of an input of TYPE.
With ID, it is one for that todo."
  (seq-find (lambda (kept)
              (and (plist-get kept :reason) (equal (plist-get kept :type) type)
                   (or (null id) (equal (plist-get kept :id) id))))
            statewire--kept))

(defun statewire--keep (type id title &optional reason)
  "Keep TITLE of the input of TYPE for the todo ID, not accepted for REASON."
  (statewire--drop type id)
  (unless (string-blank-p title)
    (setq statewire--kept
          (append statewire--kept
                  (list (list :type type :id id :title title :reason reason))))))

(defun statewire--drop (type id)
  "No longer keep a title of the input of TYPE for the todo ID."
  (setq statewire--kept
        (seq-remove (lambda (kept)
                      (and (equal (plist-get kept :type) type) (equal (plist-get kept :id) id)))
                    statewire--kept)))

(defun statewire--new-id ()
  "Make an id for a todo that no other todo has."
  (md5 (format "%s %s %s %s" (system-name) (emacs-pid) (float-time) (random))))

(defun statewire--read (prompt refused text)
  "Read a title by PROMPT; that of REFUSED, or TEXT, is there at first."
  (let ((first (if refused (plist-get refused :title) text)))
    (minibuffer-with-setup-hook
        (lambda ()
          ;; Text is edited as it is; what would reorder it shows, and does not act.
          (when (string-match-p (format "[%s]" statewire--bidi) (or first ""))
            (setq bidi-display-reordering nil
                  buffer-display-table (make-display-table))
            (mapc (lambda (range) (set-char-table-range buffer-display-table range [#xfffd]))
                  '(#x61c (#x200e . #x200f) (#x202a . #x202e) (#x2066 . #x2069)))))
      (read-string (if refused
                       (format "%s (%s): " prompt (statewire--visible (plist-get refused :reason)))
                     (concat prompt ": "))
                   first))))

(defun statewire--enter (type id title)
  "Send the input of TYPE with TITLE for the todo ID.
TITLE is kept until it is accepted."
  (statewire--keep type id title)
  (statewire--request
   'store/send (statewire--input type :id id :title title)
   (lambda (answer)
     ;; An effect that fails is not an error, but shows in the state.
     (cond ((equal (plist-get statewire--state :type) "error")
            (statewire--keep type id title (plist-get statewire--state :message)))
           (t (statewire--drop type id)
              (when (and (equal type "todoRenamed") (statewire--gone-p id))
                (statewire--keep "todoAdded" (statewire--new-id) title "the todo is gone")
                (statewire--say "The todo is gone: a has the text"))))
     (statewire--answered answer))
   (lambda (reason)
     (statewire--keep type id title reason)
     (statewire--say (if (statewire--refused type id)
                         (format "%s: %s has the text" reason (if (equal type "todoAdded") "a" "r"))
                       reason)))))

(defun statewire-add ()
  "Add a todo at the end of the list, or several, one for each line.
A title that was not accepted is there again; it is added once at most."
  (interactive)
  (let* ((refused (statewire--refused "todoAdded"))
         (text (statewire--read "Add" refused nil))
         (lines (seq-remove #'string-blank-p (split-string text "\n")))
         (id (if (equal text (plist-get refused :title)) (plist-get refused :id)
               (statewire--new-id))))
    (when refused (statewire--drop "todoAdded" (plist-get refused :id)))
    ;; The question may be left.
    (statewire--keep "todoAdded" id text "not added yet")
    (if (and (cdr lines) (y-or-n-p (format "Add %d todos, one for each line? " (length lines))))
        (progn (statewire--drop "todoAdded" id)
               (dolist (line lines) (statewire--enter "todoAdded" (statewire--new-id) line)))
      (statewire--enter "todoAdded" id text))))

(defun statewire-rename ()
  "Give the todo at point another title."
  (interactive)
  (let* ((todo (statewire--at-point))
         (id (plist-get todo :id))
         (before (plist-get todo :title))
         (title (statewire--read "Rename" (statewire--refused "todoRenamed" id) before))
         (now (plist-get (statewire--todo id) :title)))
    (statewire--drop "todoRenamed" id)
    (cond ((member title (list before now)) (message "The title is as it was"))
          ((null now)
           (statewire--keep "todoAdded" (statewire--new-id) title "the todo is gone")
           (user-error "The todo is gone: a has the text"))
          (t
           ;; The question may be left.
           (statewire--keep "todoRenamed" id title "renamed meanwhile")
           (when (or (equal now before)
                     (y-or-n-p (format "Renamed meanwhile: %s.  Rename it again? "
                                       (statewire--visible now))))
             (statewire--enter "todoRenamed" id title))))))

(defun statewire-toggle ()
  "Complete the todo at point, or open it again."
  (interactive)
  (let ((todo (statewire--at-point)))
    (statewire--send (if (statewire--open-p todo) "todoCompleted" "todoReopened")
                     :id (plist-get todo :id))))

(defun statewire-remove ()
  "Remove the todo at point."
  (interactive)
  (let ((id (plist-get (statewire--at-point) :id)))
    (push id statewire--removed)
    (statewire--send "todoRemoved" :id id)))

(defun statewire--move (by)
  "Move the todo at point BY places."
  (let* ((todo (statewire--at-point))
         (index (+ by (seq-position (statewire--todos) todo)))
         (others (remq todo (statewire--todos))))
    (when (<= 0 index (length others))
      (statewire--send "todoMoved" :id (plist-get todo :id)
                       :before (plist-get (nth index others) :id)))))

(defun statewire-move-up ()
  "Move the todo at point before the one above it."
  (interactive)
  (statewire--move -1))

(defun statewire-move-down ()
  "Move the todo at point behind the one below it."
  (interactive)
  (statewire--move 1))

(defun statewire-refresh ()
  "Compare the list with the server's and load it again; connect if need be."
  (interactive)
  (cond ((not (statewire--connected-p)) (statewire--connect))
        (statewire--revision
         (statewire--check)
         (statewire--send "stateRequested"))
        (t (statewire--begin))))

(defvar statewire-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("a" . statewire-add) ("r" . statewire-rename)
                     ("x" . statewire-toggle) ("SPC" . statewire-toggle)
                     ("d" . statewire-remove)
                     ("M-<up>" . statewire-move-up) ("M-p" . statewire-move-up)
                     ("M-<down>" . statewire-move-down) ("M-n" . statewire-move-down)
                     ("g" . statewire-refresh) ("n" . next-line) ("p" . previous-line)))
      (define-key map (kbd key) command))
    map)
  "The keys of `statewire-mode'.")

(define-derived-mode statewire-mode special-mode "Statewire"
  "A todo list that a server keeps.  The keys:
\\{statewire-mode-map}"
  (buffer-disable-undo)
  (hl-line-mode)
  (setq truncate-lines t
        header-line-format
        '(" " statewire--status
          (:propertize "   a add  r rename  x done  d remove  M-↑↓ move  g again  q quit"
                       face shadow)))
  (add-hook 'kill-buffer-query-functions #'statewire--leave-p nil t)
  (add-hook 'kill-buffer-hook #'statewire--disconnect nil t))

(defun statewire--leave-p ()
  "Say whether the buffer may go, with the titles that were not accepted."
  (or (null statewire--kept) (yes-or-no-p "Titles were not accepted.  Leave the list? ")))

(defun statewire--show (name address &optional open)
  "Show the list of ADDRESS in the buffer NAME; OPEN are params of `store/open'."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p 'statewire-mode) (statewire-mode))
    (pop-to-buffer-same-window (current-buffer))
    (unless (and (statewire--connected-p) (equal address statewire--address))
      (setq statewire--address address
            statewire--open open)
      (statewire--connect))
    (current-buffer)))

;;;###autoload
(defun statewire ()
  "Start a server by `statewire-command', and show its todo list."
  (interactive)
  (statewire--show "*statewire*" nil))

;;;###autoload
(defun statewire-connect (host port &optional session)
  "Show the todo list of the server at HOST and PORT.
With SESSION, a handle, it is that session's; otherwise a session begins."
  (interactive
   (list (read-string "Host: " "127.0.0.1")
         (read-number "Port: " 7227)
         (let ((session (read-string "Session (none: a new one): ")))
           (unless (string-empty-p session) session))))
  (statewire--show (format "*statewire %s:%s*" host port) (list host port session)))

(provide 'statewire)

;;; statewire.el ends here

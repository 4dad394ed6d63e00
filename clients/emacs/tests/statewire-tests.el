;;; statewire-tests.el --- Tests of the Emacs client  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The vectors and the planted faults that all clients share, and the list as it is drawn, by the
;; keys that people press.  The environment's STATEWIRE is the program.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'json)
(require 'statewire)
(eval-when-compile (require 'subr-x))

(defconst statewire-tests--program (getenv "STATEWIRE"))
(defconst statewire-tests--conformance
  (expand-file-name "../../conformance/"
                    (file-name-directory (or load-file-name buffer-file-name))))

;;; What the tests stand on

;; How long an answer takes is not what is tested.
(setq jsonrpc-default-request-timeout 60)

(defmacro statewire-tests--until (condition)
  "Wait until CONDITION holds; what takes a minute hangs."
  `(with-timeout (60 (ert-fail (list "In vain" ',condition (buffer-string) statewire--status)))
     (while (not ,condition) (accept-process-output nil 0.02))))

(defun statewire-tests--shows (&rest lines)
  "Wait until the buffer shows LINES."
  (let ((text (concat (string-join lines "\n") "\n")))
    (statewire-tests--until (equal (buffer-string) text))))

(defun statewire-tests--keys (&rest keys)
  "Press KEYS in the buffer."
  (set-window-buffer nil (current-buffer))
  (execute-kbd-macro (kbd (string-join keys " "))))

(defun statewire-tests--start (&rest command)
  "Start COMMAND, and wait until it says where it listens: give the process and its port."
  (let ((process (make-process :name "tests" :buffer (generate-new-buffer " *tests*") :noquery t
                               :command `("sh" "-c" "exec \"$@\" 2>&1" "sh" ,@command)
                               :connection-type 'pipe)))
    (with-current-buffer (process-buffer process)
      (statewire-tests--until
       (save-excursion (goto-char (point-min))
                       (re-search-forward "listening on [0-9.]*:\\([0-9]+\\)$" nil t)))
      (list process (string-to-number (match-string 1))))))

(defun statewire-tests--serve (&rest options)
  "Start a server with OPTIONS: give the process and its port."
  (apply #'statewire-tests--start statewire-tests--program "serve"
         (if (member "--tcp" options) options `("--tcp" "127.0.0.1:0" ,@options))))

(defmacro statewire-tests--with (bindings &rest body)
  "Run BODY with BINDINGS, as of `pcase-let*'; then end what was started."
  (declare (indent 1))
  `(unwind-protect (pcase-let* ,bindings ,@body)
     (dolist (buffer (buffer-list))
       (when (eq (buffer-local-value 'major-mode buffer) 'statewire-mode) (kill-buffer buffer)))
     (dolist (process (process-list))
       (when (string-prefix-p "tests" (process-name process)) (delete-process process)))))

(defun statewire-tests--own-server ()
  "Show the list of a server that is spawned, in the current buffer."
  (let ((statewire-command (list statewire-tests--program "serve" "--test")))
    (statewire))
  (set-buffer "*statewire*")
  (statewire-tests--shows "Nothing to do. Type a to add something."))

(defun statewire-tests--read (name)
  "Read the vectors in the file NAME, by the reader that jsonrpc.el takes."
  (with-temp-buffer
    (insert-file-contents (concat statewire-tests--conformance name))
    (json-parse-buffer :object-type 'plist :null-object :null :false-object :json-false)))

;;; Vectors

(ert-deftest statewire-patches ()
  "Each patch does what it should, and nothing to the value that it is for."
  (seq-doseq (vector (statewire-tests--read "patches.json"))
    (ert-info ((format "%S" vector))
      (let* ((value (plist-get vector :doc))
             (before (statewire-canonical value))
             (after (condition-case nil
                        (statewire-canonical (statewire-patch value (plist-get vector :patch)))
                      (statewire-patch-error 'fails))))
        (should (equal (statewire-canonical value) before))
        (should (equal after (if (plist-member vector :error) 'fails
                               (statewire-canonical (plist-get vector :expected)))))))))

(ert-deftest statewire-digests ()
  "Each form and digest is right.
Values are read by json.el, since Emacs' faster reader refuses NUL and the largest integers, and
into tables, in which the last of several members with one key counts."
  (seq-doseq (vector (statewire-tests--read "canonical.json"))
    (ert-info ((format "%S" vector))
      (let* ((json-object-type 'hash-table)
             (json-null :null)
             (value (statewire-tests--plists (json-read-from-string (plist-get vector :text)))))
        (should (equal (statewire-canonical value) (plist-get vector :canonical)))
        (should (= (statewire-digest value) (plist-get vector :digest)))))))

(defun statewire-tests--plists (value)
  "Give VALUE with plists for its tables."
  (cond ((hash-table-p value)
         (let (plist)
           (maphash (lambda (key inner)
                      (setq plist (cl-list* (statewire--key key) (statewire-tests--plists inner)
                                            plist)))
                    value)
           plist))
        ((vectorp value) (vconcat (mapcar #'statewire-tests--plists value)))
        (t value)))

;;; The list

(ert-deftest statewire-keys ()
  "The keys do what the line above the list says."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET")
    (statewire-tests--shows "[ ] Milk")
    (statewire-tests--keys "a Bread RET" "a Z ü r i c h RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Zürich")
    (should (equal statewire--status "3 of 3 open"))
    (statewire-tests--keys "n x")
    (statewire-tests--shows "[ ] Milk" "[x] Bread" "[ ] Zürich")
    (should (eq (get-text-property (+ (point) 4) 'face) 'statewire-done))
    (should (equal statewire--status "2 of 3 open"))
    (statewire-tests--keys "SPC")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Zürich")
    (statewire-tests--keys "r C-a R y e SPC RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread" "[ ] Zürich")
    (statewire-tests--keys "M-<up>")
    (statewire-tests--shows "[ ] Rye Bread" "[ ] Milk" "[ ] Zürich")
    (should (= (line-number-at-pos) 1))
    (statewire-tests--keys "M-<up>" "M-<down>")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread" "[ ] Zürich")
    (statewire-tests--keys "M-n")
    (statewire-tests--shows "[ ] Milk" "[ ] Zürich" "[ ] Rye Bread")
    (statewire-tests--keys "p d")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread")
    (should (= (line-number-at-pos) 2))
    (should-not statewire--resyncs)
    (should-not (buffer-modified-p))))

(ert-deftest statewire-refusals ()
  "What the store refuses is told, and so is what it cannot show."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET")
    (statewire-tests--shows "[ ] Milk")
    (ert-with-message-capture said
      (statewire-tests--keys "a SPC RET")
      (statewire-tests--until (string-search "a title must not be empty" said)))
    (should (equal statewire--status "1 of 1 open"))
    (jsonrpc-request statewire--connection 'test/injectFault
                     '(:store "todo" :operation "getTodos" :fault (:type "fail")))
    (statewire-tests--keys "g")
    (statewire-tests--until
     (string-match-p "\\`The list cannot be shown: .*\nType g" (buffer-string)))
    (statewire-tests--keys "g")
    (statewire-tests--shows "[ ] Milk")))

(ert-deftest statewire-point ()
  "Point stays at its todo while others come and go, in each window."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET" "a Bread RET" "a Tea RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Tea")
    (statewire-tests--keys "n n")
    (let ((other (split-window)))
      (set-window-point other (point-min))
      (statewire--send "todoMoved" :id (plist-get (car (statewire--todos)) :id) :before nil)
      (statewire-tests--shows "[ ] Bread" "[ ] Tea" "[ ] Milk")
      (should (= (line-number-at-pos (window-point)) 2))
      (should (= (line-number-at-pos (window-point other)) 3))
      (delete-window other))))

(ert-deftest statewire-shared-session ()
  "What another frontend of the session does is seen."
  (statewire-tests--with ((`(,_ ,port) (statewire-tests--serve "--test"))
                          (one (statewire-connect "127.0.0.1" port))
                          (handle (plist-get (jsonrpc-request (buffer-local-value
                                                               'statewire--connection one)
                                                              'session/open nil)
                                             :session)))
    (with-current-buffer one
      (rename-buffer "one")
      (statewire-tests--keys "a Milk RET")
      (statewire-tests--shows "[ ] Milk"))
    (with-current-buffer (statewire-connect "127.0.0.1" port handle)
      (statewire-tests--shows "[ ] Milk")
      (statewire-tests--keys "x")
      (statewire-tests--shows "[x] Milk"))
    (with-current-buffer one
      (statewire-tests--shows "[x] Milk")
      (statewire-tests--keys "a Tea RET"))
    (with-current-buffer (format "*statewire 127.0.0.1:%d*" port)
      (statewire-tests--shows "[x] Milk" "[ ] Tea"))
    (with-current-buffer (statewire-connect "127.0.0.1" port "no such handle")
      (statewire-tests--until (equal statewire--status "there is no such session")))))

(ert-deftest statewire-killed-server ()
  "A server that is killed is missed, and found again."
  (let ((folder (make-temp-file "statewire-" t)))
    (statewire-tests--with ((`(,server ,port) (statewire-tests--serve "--data-dir" folder)))
      (with-current-buffer (statewire-connect "127.0.0.1" port)
        (statewire-tests--keys "a Milk RET")
        (statewire-tests--shows "[ ] Milk")
        (ert-with-message-capture said
          (delete-process server)
          (statewire-tests--until (string-search "g connects again" statewire--status))
          (should (string-search "The connection has ended" said)))
        (statewire-tests--shows "[ ] Milk")
        (should-error (statewire-toggle) :type 'user-error)
        (should-error (statewire-refresh) :type 'user-error)
        (statewire-tests--serve "--data-dir" folder "--tcp" (format "127.0.0.1:%d" port))
        (statewire-tests--keys "g")
        (statewire-tests--until (equal statewire--status "1 of 1 open"))
        (statewire-tests--keys "x")
        (statewire-tests--shows "[x] Milk")))
    (delete-directory folder t)))

;;; Planted faults

(ert-deftest statewire-faults ()
  "A frame that is missing or wrong is noticed, and the list comes right."
  (let* ((data (statewire-tests--read "faults.json"))
         (scenarios
          ;; An input whose answer is lost with its connection is not sent again.
          (seq-remove (lambda (scenario)
                        (seq-some (lambda (planted)
                                    (member (plist-get planted :fault) '("cut" "half")))
                                  (plist-get scenario :plant)))
                      (plist-get data :scenarios))))
    (should (> (length scenarios) 5))
    (seq-doseq (scenario scenarios)
      (ert-info ((plist-get scenario :name))
        (statewire-tests--with
            ((`(,_ ,server) (apply #'statewire-tests--serve (append (plist-get data :server) nil)))
             (`(,proxy ,port) (statewire-tests--start
                               (concat statewire-tests--conformance "fault-proxy")
                               (format "127.0.0.1:%d" server)
                               "--scenario" (plist-get scenario :name))))
          (with-current-buffer (statewire--show "faults" (list "127.0.0.1" port)
                                                (list :store (plist-get data :store)
                                                      :kind (plist-get data :kind)
                                                      :config (plist-get data :config)))
            ;; The first input, `stateRequested', the client has sent by itself.
            (seq-doseq (input (seq-drop (plist-get data :inputs) 1))
              (statewire-tests--send (plist-get data :store) input))
            (statewire--check)
            (statewire-tests--until
             (and (equal statewire--revision (plist-get data :revision))
                  (= (statewire-digest statewire--state) (plist-get data :digest))))
            (should (equal (statewire-canonical statewire--state)
                           (statewire-canonical (plist-get data :state))))
            (should (string-suffix-p "[ ] Rice\n[ ] Last\n" (buffer-string)))
            (should (equal (sort (seq-uniq (mapcar #'symbol-name statewire--resyncs)) #'string<)
                           (append (plist-get scenario :noticed) nil))))
          (should (= (with-current-buffer (process-buffer proxy)
                       (count-matches "^{" (point-min) (point-max)))
                     (length (plist-get scenario :plant)))))))))

(defun statewire-tests--send (store input)
  "Send INPUT to STORE, and wait for the answer."
  (let ((input (mapcar (lambda (value) (unless (eq value :null) value)) input))
        (answered nil))
    (statewire--request 'store/send (list :store store :input input)
                        (lambda (answer)
                          (statewire--answered answer)
                          (setq answered t)))
    (statewire-tests--until answered)))

(provide 'statewire-tests)

;;; statewire-tests.el ends here
